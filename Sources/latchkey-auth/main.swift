print("latchkey-auth")
