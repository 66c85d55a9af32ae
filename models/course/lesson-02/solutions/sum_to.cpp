// Exercise: the gradient of broadcasting.
#include "exercises.h"
using namespace lamina;

// A Shape tells its rank(), 0 for a scalar; seen as a matrix, whose columns are the last axis, its rows() and columns().
Tensor sum_to(const Tensor& dy, const Shape& shape) {
  // [ your code: sum_rows(x) sums over the rows, sum_columns(x) over the columns, x.reshape(shape) gives the shape
  Tensor db = dy;
  if (shape.rows() == 1) db = sum_rows(db);        // [columns] and [scalar] were repeated down the rows
  if (shape.columns() == 1) db = sum_columns(db);  // [rows x 1] and [scalar] along the columns
  return db.reshape(shape);
  // | return Tensor::zeros(shape);
  // ]
  // mistake: for b [3] your db is the mean over its copies; each of them counts in full: it is the sum
  // ~ Tensor db = dy;
  // ~ if (shape.rows() == 1) db = mean_rows(db);
  // ~ if (shape.columns() == 1) db = mean_columns(db);
  // ~ return db.reshape(shape);
  // mistake: for b [3] your db is that of one copy; it is the sum over all of them
  // ~ if (shape.rows() == 1) return dy.slice(0, 1).reshape(shape);
  // ~ return sum_columns(dy);
  // mistake: for b [3] your db sums along the rows; b was repeated down the columns
  // ~ if (shape.columns() == 3) return sum_columns(dy).reshape(shape);
  // ~ return sum_rows(dy).reshape(shape);
  // mistake: for b [3 x 1] your db sums down the columns; b was repeated along the rows
  // ~ if (shape.columns() == 1 && shape.rows() == 1) return sum(dy);
  // ~ return sum_rows(dy).reshape(shape);
  // mistake: for b [scalar] your db has 3 numbers; it must have 1
  // ~ if (shape.rank() == 2 && shape.columns() == 1) return sum_columns(dy);
  // ~ return sum_rows(dy);
  // mistake: for b [3 x 3] your db is a sum, but b was not repeated: db = dy
  // ~ if (shape.columns() == 1) return shape.rows() == 1 ? sum(dy) : sum_columns(dy);
  // ~ return shape.rank() == 1 ? sum_rows(dy) : sum_rows(dy) + Tensor::zeros(shape);
  // mistake: for b [3 x 3] your db is a sum, but b was not repeated: db = dy
  // ~ return shape.rank() == 0 ? sum(dy) : shape.rank() == 1 ? sum_rows(dy) : sum_columns(dy);
  // mistake: for b [3 x 1] your db has the shape [3]; it must have that of b
  // ~ if (shape == dy.shape()) return dy;
  // ~ return shape.rank() == 0 ? sum(dy) : shape.rank() == 1 ? sum_rows(dy) : sum(dy, 1);
}
