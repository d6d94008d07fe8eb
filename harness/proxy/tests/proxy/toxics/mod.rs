//! Toxics: their shapes, the board, and each behaviour over real sockets.

mod shapes;
