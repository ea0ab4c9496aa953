"""How far do annotators agree? The common agreement Phi, and the classic coefficients."""
