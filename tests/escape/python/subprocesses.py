#: attacks = asyncio's subprocesses and their pipes
#: timeout = 1
#: status = any
import asyncio
async def main():
    held = []
    while True:
        try:
            held.append(await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1, stderr=-1))
            held[-1].stdin.write(b"x" * 1000000)
        except OSError:
            await asyncio.sleep(0.01)
asyncio.run(main())
