// Streams of files, which the C++ library here is built without: HiGHS names them.

#include <fstream>

template class std::basic_filebuf<char>;
template class std::basic_ifstream<char>;
template class std::basic_ofstream<char>;
