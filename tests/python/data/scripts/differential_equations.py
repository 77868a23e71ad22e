"""needs SciPy: an epidemic, a pendulum with events, a stiff reaction; integrals and interpolation."""

import numpy as np
from scipy import integrate, interpolate


def sir(t, y, beta, gamma):
    s, i, r = y
    return [-beta * s * i, beta * s * i - gamma * i, gamma * i]


run = integrate.solve_ivp(sir, (0, 100), [0.99, 0.01, 0], args=(0.4, 0.1), rtol=1e-8, atol=1e-10, dense_output=True)
days = np.arange(0, 101)
infected = run.sol(days)[1]
print("peak", days[infected.argmax()], infected.max(), "end", *run.y[:, -1])


def touches(t, y):
    return y[0]


touches.direction = -1
pendulum = integrate.solve_ivp(lambda t, y: [y[1], -9.81 * np.sin(y[0])], (0, 10), [1.0, 0], events=touches, rtol=1e-9, atol=1e-9)
print("period", *np.diff(pendulum.t_events[0])[:3])
for method in ("BDF", "Radau", "LSODA"):
    stiff = integrate.solve_ivp(lambda t, y: [-0.04 * y[0] + 1e4 * y[1] * y[2], 0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2,
                                              3e7 * y[1] ** 2], (0, 40), [1, 0, 0], method=method, rtol=1e-7, atol=1e-10)
    print(method, *np.round(stiff.y[:, -1], 6))
print("odeint", *integrate.odeint(lambda y, t: -0.5 * y, 3.0, [0, 1, 4]).ravel())
print("quad", *integrate.quad(lambda x: np.exp(-x * x), 0, np.inf)[:1], integrate.dblquad(lambda y, x: x * y, 0, 1, 0, 2)[0])
x = np.linspace(0, 10, 11)
y = np.sin(x)
print("simpson", integrate.simpson(y, x=x), "trapezoid", *integrate.cumulative_trapezoid(y, x)[-2:])
spline = interpolate.CubicSpline(x, y)
print("spline", spline(2.5), spline(2.5, 1), spline.integrate(0, 10))
print("pchip", interpolate.PchipInterpolator(x, y)(4.4), "akima", interpolate.Akima1DInterpolator(x, y)(4.4))
rng = np.random.default_rng(2)
smooth = interpolate.UnivariateSpline(x, y + rng.normal(0, 0.05, 11), s=0.05)
print("smooth", smooth(3.3), smooth.get_residual())
points = rng.random((80, 2))
values = points[:, 0] ** 2 + points[:, 1]
print("griddata", *interpolate.griddata(points, values, [[0.5, 0.5], [0.3, 0.7]], "cubic"))
print("rbf", *interpolate.RBFInterpolator(points, values)([[0.5, 0.5]]))
