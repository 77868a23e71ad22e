"""needs SciPy: designs filters, finds peaks, spectra, a spectrogram; resamples."""

import numpy as np
from scipy import fft, signal

rate = 500
t = np.arange(0, 4, 1 / rate)
rng = np.random.default_rng(10)
x = np.sin(2 * np.pi * 1.2 * t) ** 21 + 0.3 * np.sin(2 * np.pi * 50 * t) + 0.1 * rng.normal(size=t.size)

b, a = signal.butter(4, 15, fs=rate)
print("butter", *b, *a)
smooth = signal.filtfilt(b, a, x)
notch = signal.filtfilt(*signal.iirnotch(50, 30, fs=rate), x)
print("rms", smooth.std(), notch.std())
peaks, properties = signal.find_peaks(smooth, height=0.5, distance=rate // 4)
print("peaks", len(peaks), *peaks[:4], *properties["peak_heights"][:2])
f, power = signal.welch(x, fs=rate, nperseg=512)
print("welch", f[power.argmax()], f[25 + power[25:].argmax()], power.sum())
f, times, density = signal.spectrogram(x, fs=rate, nperseg=256)
print("spectrogram", density.shape, density.sum())
sos = signal.cheby1(5, 1, [5, 40], "band", fs=rate, output="sos")
print("cheby", signal.sosfiltfilt(sos, x).std())
taps = signal.firwin(31, 20, fs=rate)
w, h = signal.freqz(taps, fs=rate, worN=5)
print("fir", *np.abs(h))
print("savgol", *signal.savgol_filter(x, 21, 3)[:3], "median", signal.medfilt(x, 5).std())
down = signal.decimate(x, 5)
print("decimated", down.size, down.std(), "resampled", signal.resample(x, 300).std())
print("hilbert", np.abs(signal.hilbert(smooth)).mean(), "dct", *fft.dct(x, norm="ortho")[:3])
print("convolved", signal.fftconvolve(x, np.hanning(50), "same").max())
system = signal.TransferFunction([1], [1, 0.6, 4])
times, response = signal.step(system, N=50)
print("step", response.max(), response[-1], *system.poles.real)
