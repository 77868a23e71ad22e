# A Homebrew formula; `cargo xtask release` fills in the addresses and digests.
class Wasibox < Formula
  desc "Unix machine of its own for a language model, as WebAssembly"
  homepage "@ADDRESS@"
  url "@ADDRESS@/releases/download/v@VERSION@/@PROGRAM@"
  version "@VERSION@"
  sha256 "@PROGRAM_SUM@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on arch: :x86_64
  depends_on :linux

  resource "image" do
    url "@ADDRESS@/releases/download/v@VERSION@/@IMAGE@"
    sha256 "@IMAGE_SUM@"
  end

  def install
    prefix.install Dir["*"]
    resource("image").stage { (lib/"wasibox").install "wasibox/wasibox_image" }
  end

  test do
    assert_equal "hi\n", shell_output("#{bin}/wasibox exec -- echo hi")
  end
end
