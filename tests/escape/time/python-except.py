#: attacks = a program that catches everything
#: timeout = 1
#: status = 124
#: limit = timeout
import sys
def again():
    while True:
        try:
            try:
                sys.exit(3)
            finally:
                again()
        except BaseException:
            pass
again()
