// One hover lights up its twins everywhere: elements carry keys, the graph's frame is told and tells.

/**
 * Keys: `g3` and `x3` are the third path with and without the graph, `e:NAME` an entity.
 * @param {HTMLElement} root
 * @param {(keys: string[]) => void} tell passes keys to the graph's frame
 */
export function watchHover(root, tell) {
  let current = '';
  const light = (keys, fromFrame) => {
    const written = keys.join('\u0000');
    if (written === current) return;
    current = written;
    const wanted = new Set(keys);
    for (const element of root.querySelectorAll('[data-keys]')) {
      element.classList.toggle('lit', JSON.parse(element.dataset.keys).some((key) => wanted.has(key)));
    }
    if (!fromFrame) tell(keys);
  };
  const enter = (event) => {
    const element = event.target.closest?.('[data-keys]');
    light(element ? JSON.parse(element.dataset.keys) : [], false);
  };
  root.addEventListener('pointerover', enter);
  root.addEventListener('focusin', enter);
  root.addEventListener('pointerleave', () => light([], false));
  return (keys) => light(keys, true);
}

/** Keys of a path. */
export function pathKey(path) { return `${path.constrained ? 'g' : 'x'}${path.index}`; }
