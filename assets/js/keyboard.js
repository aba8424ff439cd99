// Keys for the transport. Never taken from a field, a button that has its own use for the key, or a dialogue.

const FIELDS = 'input, textarea, select, [contenteditable="true"], [role="listbox"], [role="tree"], dialog';

/**
 * @param {import('./player.js').Player} player
 * @param {() => number} size of a step
 */
export function listenToKeys(player, size) {
  const act = {
    ' ': () => (player.playing ? player.pause() : player.play()),
    ArrowLeft: () => player.step(-1, size()),
    ArrowRight: () => player.step(1, size()),
    Home: () => player.seek(0),
    End: () => player.seek(player.stops.length),
  };
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!act[event.key] || !player.events.length || event.target.closest?.(FIELDS)) return;
    if (event.key === ' ' && event.target.closest?.('button, summary, a, [role="button"]')) return;
    event.preventDefault();
    act[event.key]();
  });
}
