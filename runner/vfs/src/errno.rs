//! Error numbers as WASI preview 1 numbers them (`wasi_snapshot_preview1.witx`).

/// A failed operation. Never 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub u16);

macro_rules! errnos {
    ($($name:ident = $num:literal $text:literal,)*) => {
        impl Errno {
            $(#[doc = $text] pub const $name: Errno = Errno($num);)*

            /// Returns the message in the words of glibc's `strerror`.
            pub fn text(self) -> &'static str {
                match self { $(Errno::$name => $text,)* _ => "Unknown error" }
            }

            fn name(self) -> &'static str {
                match self { $(Errno::$name => stringify!($name),)* _ => "?" }
            }
        }
    };
}

errnos! {
    TOOBIG = 1 "Argument list too long",
    ACCES = 2 "Permission denied",
    ADDRINUSE = 3 "Address already in use",
    ADDRNOTAVAIL = 4 "Cannot assign requested address",
    AFNOSUPPORT = 5 "Address family not supported by protocol",
    AGAIN = 6 "Resource temporarily unavailable",
    ALREADY = 7 "Operation already in progress",
    BADF = 8 "Bad file descriptor",
    BUSY = 10 "Device or resource busy",
    CHILD = 12 "No child processes",
    CONNREFUSED = 14 "Connection refused",
    CONNRESET = 15 "Connection reset by peer",
    DEADLK = 16 "Resource deadlock avoided",
    DESTADDRREQ = 17 "Destination address required",
    DQUOT = 19 "Disk quota exceeded",
    EXIST = 20 "File exists",
    FAULT = 21 "Bad address",
    FBIG = 22 "File too large",
    ILSEQ = 25 "Invalid or incomplete multibyte or wide character",
    INPROGRESS = 26 "Operation now in progress",
    INTR = 27 "Interrupted system call",
    INVAL = 28 "Invalid argument",
    IO = 29 "Input/output error",
    ISCONN = 30 "Transport endpoint is already connected",
    ISDIR = 31 "Is a directory",
    LOOP = 32 "Too many levels of symbolic links",
    MFILE = 33 "Too many open files",
    MLINK = 34 "Too many links",
    MSGSIZE = 35 "Message too long",
    NAMETOOLONG = 37 "File name too long",
    NETUNREACH = 40 "Network is unreachable",
    NFILE = 41 "Too many open files in system",
    NOBUFS = 42 "No buffer space available",
    NODEV = 43 "No such device",
    NOENT = 44 "No such file or directory",
    NOEXEC = 45 "Exec format error",
    NOLCK = 46 "No locks available",
    NOMEM = 48 "Cannot allocate memory",
    NOPROTOOPT = 50 "Protocol not available",
    NOSPC = 51 "No space left on device",
    NOSYS = 52 "Function not implemented",
    NOTCONN = 53 "Transport endpoint is not connected",
    NOTDIR = 54 "Not a directory",
    NOTEMPTY = 55 "Directory not empty",
    NOTSOCK = 57 "Socket operation on non-socket",
    NOTSUP = 58 "Operation not supported",
    NOTTY = 59 "Inappropriate ioctl for device",
    NXIO = 60 "No such device or address",
    OVERFLOW = 61 "Value too large for defined data type",
    PERM = 63 "Operation not permitted",
    PIPE = 64 "Broken pipe",
    PROTONOSUPPORT = 66 "Protocol not supported",
    PROTOTYPE = 67 "Protocol wrong type for socket",
    RANGE = 68 "Numerical result out of range",
    ROFS = 69 "Read-only file system",
    SPIPE = 70 "Illegal seek",
    SRCH = 71 "No such process",
    STALE = 72 "Stale file handle",
    TIMEDOUT = 73 "Connection timed out",
    TXTBSY = 74 "Text file busy",
    XDEV = 75 "Invalid cross-device link",
    NOTCAPABLE = 76 "Capabilities insufficient",
}

impl std::fmt::Debug for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({})", self.name(), self.0)
    }
}

impl std::fmt::Display for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for Errno {}
