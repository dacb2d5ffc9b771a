// Every function of libmicrohttpd that is called.

FUNCTION(MHD_add_response_header)
FUNCTION(MHD_create_response_from_buffer_with_free_callback_cls)
FUNCTION(MHD_create_response_from_callback)
FUNCTION(MHD_destroy_response)
FUNCTION(MHD_get_connection_info)
FUNCTION(MHD_get_connection_values)
FUNCTION(MHD_get_response_header)
FUNCTION(MHD_queue_response)
FUNCTION(MHD_resume_connection)
FUNCTION(MHD_start_daemon)
FUNCTION(MHD_stop_daemon)
FUNCTION(MHD_suspend_connection)
