// Layers: from which one on the graph's token is ahead.

import assert from 'node:assert/strict';
import test from 'node:test';

import { overtakes } from '../../assets/js/views/allowed.js';

test('the layer from which on the graph’s token stays ahead', () => {
  assert.equal(overtakes([[0.1, 0.2], [0.3, 0.2], [0.1, 0.2], [0.5, 0.2], [0.9, 0.1]]), 3);
  assert.equal(overtakes([[0.3, 0.2], [0.4, 0.1]]), 0);
  assert.equal(overtakes([[0.3, 0.2], [0.1, 0.4]]), null);
  assert.equal(overtakes([[0.1, 0.2], [0.2, 0.2]]), 1);
});
