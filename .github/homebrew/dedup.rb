# The formula of a release. .ci/release fills in the version, the address and the checksums; the result is a file of the release, to be
# copied to Formula/dedup.rb of a tap.
class Dedup < Formula
  desc "Near-duplicate detection for text, with exact similarities"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/dedup-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 aarch64-apple-darwin@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/dedup-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/dedup-@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256 aarch64-unknown-linux-gnu@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/dedup-@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256 x86_64-unknown-linux-gnu@"
    end
  end

  def install
    bin.install "dedup"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/dedup.bash" => "dedup"
    zsh_completion.install "completions/_dedup"
    fish_completion.install "completions/dedup.fish"
  end

  test do
    (testpath/"a.txt").write "to be or not to be, that is the question"
    (testpath/"b.txt").write "To be or not to be: that is the question"
    assert_match '"similarity":1.0', shell_output("#{bin}/dedup scan a.txt b.txt")
    assert_match version.to_s, shell_output("#{bin}/dedup --version")
  end
end
