#: attacks = archives that unpack to more than there is room for
#: timeout = 2
#: disk = 4M
#: memory = 96M
#: status = any
cd /tmp
head -c 1G /dev/zero | gzip -c > z.gz; gzip -dc z.gz | gzip -c > zz.gz; gunzip -k z.gz; ls -l z; rm -f z
head -c 300M /dev/zero | bzip2 -c > z.bz2; bunzip2 -k z.bz2; head -c 300M /dev/zero | xz -c > z.xz; unxz -k z.xz; head -c 300M /dev/zero | zstd -c > z.zst; unzstd -k z.zst
python3 -c 'import zipfile; z = zipfile.ZipFile("z.zip", "w", zipfile.ZIP_DEFLATED); [z.writestr(f"f{i}", bytes(10**7)) for i in range(30)]'; unzip -o z.zip
python3 -c 'import zlib, gzip; print(len(gzip.decompress(open("z.gz", "rb").read())))'
