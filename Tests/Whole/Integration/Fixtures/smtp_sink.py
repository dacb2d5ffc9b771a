"""An SMTP server that prints what it is given: its port first, then each line of each message."""

import asyncio


async def serve(reader, writer):
    writer.write(b"220 sink\r\n")
    is_message = False
    while line := await reader.readline():
        command = line[:4].upper()
        if is_message:
            is_message = line != b".\r\n"
            if is_message:
                print(line.decode().rstrip(), flush=True)
            else:
                writer.write(b"250 ok\r\n")
        elif command == b"EHLO":
            writer.write(b"250-sink\r\n250 8BITMIME\r\n")
        elif command == b"DATA":
            is_message = True
            writer.write(b"354 go on\r\n")
        elif command == b"QUIT":
            writer.write(b"221 bye\r\n")
            break
        else:
            writer.write(b"250 ok\r\n")
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
