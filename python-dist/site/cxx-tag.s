# The tags of C++ exceptions and of longjmp. Compilers refer to them, and where
# objects are loaded one by one the loader provides them; in a static link
# somebody has to define them.
    .tagtype __cpp_exception i32
    .globl __cpp_exception
__cpp_exception:

    .tagtype __c_longjmp i32
    .globl __c_longjmp
__c_longjmp:
