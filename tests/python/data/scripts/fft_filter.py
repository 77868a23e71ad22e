"""Takes the hum and the noise out of a signal by its Fourier transform, and plots both."""

import matplotlib.pyplot as plt
import numpy as np

rate = 1000
t = np.arange(0, 2, 1 / rate)
rng = np.random.default_rng(0)
clean = np.sin(2 * np.pi * 7 * t) + 0.5 * np.sin(2 * np.pi * 23 * t)
signal = clean + 0.8 * np.sin(2 * np.pi * 50 * t) + rng.normal(0, 0.4, t.size)

spectrum = np.fft.rfft(signal)
frequencies = np.fft.rfftfreq(t.size, 1 / rate)
power = np.abs(spectrum) ** 2 / t.size
strongest = np.argsort(power)[::-1][:3]
for k in sorted(strongest):
    print(f"{frequencies[k]:.1f} Hz", power[k])

kept = spectrum.copy()
kept[frequencies > 40] = 0
filtered = np.fft.irfft(kept, t.size)
print("rms before", np.sqrt(np.mean((signal - clean) ** 2)))
print("rms after", np.sqrt(np.mean((filtered - clean) ** 2)))
snr = 10 * np.log10(np.mean(clean**2) / np.mean((filtered - clean) ** 2))
print("signal to noise, dB", snr)

window = np.hanning(256)
frames = np.lib.stride_tricks.sliding_window_view(signal, 256)[::128]
spectrogram = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
print("spectrogram", spectrogram.shape, spectrogram.sum(), spectrogram.argmax(axis=1)[:5].tolist())
lag = np.correlate(filtered, np.roll(filtered, 13), "full").argmax() - (t.size - 1)
print("shift found", abs(lag) <= 13, "Parseval", np.allclose((signal**2).sum(), (np.abs(np.fft.fft(signal)) ** 2).sum() / t.size))

fig, (above, below) = plt.subplots(2, 1, figsize=(7, 5))
above.plot(t[:400], signal[:400], lw=0.7)
above.plot(t[:400], filtered[:400])
below.semilogy(frequencies, power)
below.set_xlabel("Hz")
fig.savefig("/output/fft.png", dpi=60)
print("picture", plt.imread("/output/fft.png").shape)
