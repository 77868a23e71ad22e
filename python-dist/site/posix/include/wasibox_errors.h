/* Errors that WASI does not number, for programs that name them (CPython's module errno): Linux's
 * numbers and 1000, so that no call fails with one of them. */
#ifndef WASIBOX_ERRORS_H
#define WASIBOX_ERRORS_H

#include <errno.h>

#define EADV 1068
#define EBADE 1052
#define EBADFD 1077
#define EBADR 1053
#define EBADRQC 1056
#define EBADSLT 1057
#define EBFONT 1059
#define ECHRNG 1044
#define ECOMM 1070
#define EDEADLOCK EDEADLK
#define EDOTDOT 1073
#define EHOSTDOWN 1112
#define EISNAM 1120
#define EKEYEXPIRED 1127
#define EKEYREJECTED 1129
#define EKEYREVOKED 1128
#define EL2HLT 1051
#define EL2NSYNC 1045
#define EL3HLT 1046
#define EL3RST 1047
#define ELIBACC 1079
#define ELIBBAD 1080
#define ELIBEXEC 1083
#define ELIBMAX 1082
#define ELIBSCN 1081
#define ELNRNG 1048
#define EMEDIUMTYPE 1124
#define ENAVAIL 1119
#define ENOANO 1055
#define ENOCSI 1050
#define ENODATA 1061
#define ENOKEY 1126
#define ENOMEDIUM 1123
#define ENONET 1064
#define ENOPKG 1065
#define ENOSR 1063
#define ENOSTR 1060
#define ENOTBLK 1015
#define ENOTNAM 1118
#define ENOTUNIQ 1076
#define EPFNOSUPPORT 1096
#define EREMCHG 1078
#define EREMOTE 1066
#define EREMOTEIO 1121
#define ERESTART 1085
#define ERFKILL 1132
#define ESHUTDOWN 1108
#define ESOCKTNOSUPPORT 1094
#define ESRMNT 1069
#define ESTRPIPE 1086
#define ETIME 1062
#define ETOOMANYREFS 1109
#define EUCLEAN 1117
#define EUNATCH 1049
#define EUSERS 1087
#define EXFULL 1054

#endif
