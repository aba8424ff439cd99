// Inside the graph's frame: shows what the page sends, and says what the pointer is on. It is a classic script because
// the sandboxed frame has no origin of its own. Labels are drawn on a canvas, so no text becomes markup.
(() => {
  /** @typedef {import('../core/types.js').PictureNode} PictureNode */
  /** @typedef {import('../core/types.js').PictureEdge} PictureEdge */
  /** @typedef {{nodes: PictureNode[], edges: PictureEdge[], labels: import('./labels.js').Label[], box: import('./labels.js').Box|null}} Picture */
  /** @typedef {{shape: string, size: number, color: string, open?: boolean, dashed?: boolean}} Look */

  const { vis } = /** @type {any} */ (globalThis); // vis-network comes without types
  const PALETTE = {
    light: { ink: '#1c1d21', mute: '#6d7078', faint: '#cfccc3', paper: '#ffffff', grounded: '#00795a', ghost: '#b84600' },
    dark: { ink: '#ecebe6', mute: '#a3a6ad', faint: '#4a4d55', paper: '#1d1f24', grounded: '#3fc79d', ghost: '#ff9a5c' },
  };
  const FACE = 'Inter, system-ui, sans-serif';
  const given = JSON.parse(document.getElementById('network')?.textContent ?? '');
  const box = /** @type {HTMLElement} */ (document.getElementById('graph'));
  const nodes = new vis.DataSet(given.nodes);
  const edges = new vis.DataSet(given.edges);
  const fingers = matchMedia('(pointer: coarse)').matches; // a finger on the picture moves the page, or the pane
  const interaction = { ...given.options.interaction, ...(fingers ? { dragView: false, dragNodes: false } : {}) };
  const network = new vis.Network(box, { nodes, edges }, { ...given.options, interaction });
  if (fingers) for (const part of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll('*'))) part.style.touchAction = 'auto';
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  let colours = PALETTE.light;
  /** @type {string[]} kinds that the legend has switched off */
  let hidden = [];
  /** @type {Set<string>} keys that are lit up */
  let lit = new Set();
  /** @type {Picture} */
  let current = { nodes: [], edges: [], labels: [], box: null };

  /** @param {object} message */
  const tell = (message) => parent.postMessage(message, '*');

  // what nodes and edges look like ----------------------------------------------------------------

  /** @type {(node: PictureNode) => string} */
  const kindOfNode = ({ group }) => (group === 'ghost' ? 'ghost' : ['neighbour', 'more'].includes(group) ? 'neighbour' : ['looked', 'dropped'].includes(group) ? 'looked' : '');
  /** @type {(edge: PictureEdge) => string} */
  const kindOfEdge = (edge) => (edge.kind === 'dropped' ? 'looked' : edge.kind);
  /** @type {(id: string) => string[]} keys of the paths through a node */
  const pathsOf = (id) => current.edges.filter((edge) => edge.from === id || edge.to === id).flatMap((edge) => edge.paths);
  /** @type {(id: string) => boolean} */
  const dimmed = (id) => lit.size > 0 && !lit.has(`e:${id}`) && !pathsOf(id).some((key) => lit.has(key));

  /** @type {(text: string) => HTMLElement} a tooltip */
  const tooltip = (text) => {
    const holder = document.createElement('div');
    holder.style.whiteSpace = 'pre-line';
    holder.textContent = text;
    return holder;
  };

  /** @type {(node: PictureNode) => object} */
  function nodeLook(node) {
    const { ink, mute, faint, paper, grounded, ghost } = colours;
    /** @type {Record<string, Look>} */
    const looks = {
      topic: { shape: 'square', size: 11, color: ink },
      entity: { shape: 'dot', size: 9, color: grounded },
      end: { shape: 'diamond', size: 11, color: grounded },
      ghost: { shape: 'dot', size: 8, color: ghost, open: true, dashed: true },
      value: { shape: 'square', size: 5, color: grounded, open: true },
      stray: { shape: 'dot', size: 8, color: mute },
      looked: { shape: 'dot', size: 6, color: mute },
      dropped: { shape: 'dot', size: 6, color: mute, open: true },
      neighbour: { shape: 'dot', size: 4, color: faint },
      more: { shape: 'text', size: 4, color: faint },
    };
    const look = looks[node.group];
    const colour = { border: look.color, background: look.open ? paper : look.color };
    return {
      id: node.id, x: node.x, y: node.y, label: node.group === 'more' ? node.label : undefined, title: node.title ? tooltip(node.title) : undefined,
      opacity: dimmed(node.id) ? 0.25 : 1, shape: look.shape, size: look.size, hidden: hidden.includes(kindOfNode(node)), fixed: { x: false, y: false },
      shapeProperties: { borderDashes: look.dashed ? [3, 3] : false },
      borderWidthSelected: 5,
      color: { ...colour, highlight: colour, hover: colour },
      font: { color: mute, strokeColor: paper, strokeWidth: 4, size: 12, face: FACE },
    };
  }

  /** @type {(edge: PictureEdge) => object} */
  function edgeLook(edge) {
    const { mute, faint, grounded, ghost } = colours;
    const on = edge.paths.some((key) => lit.has(key));
    const dim = lit.size && !on;
    const colour = /** @type {Record<string, string>} */ ({ grounded, ghost, neighbour: faint, looked: mute, dropped: faint })[edge.kind];
    const dashes = /** @type {Record<string, number[]>} */ ({ ghost: [6, 5], dropped: [2, 4] })[edge.kind] ?? false;
    const width = /** @type {Record<string, number>} */ ({ grounded: edge.paths.includes('g1') ? 3 : 1.8, ghost: 1.6 })[edge.kind] ?? 1;
    return {
      id: edge.id, from: edge.from, to: edge.to, title: tooltip(edge.title ?? ''), dashes,
      hidden: hidden.includes(kindOfEdge(edge)), width: on ? 4 : width,
      arrows: { to: { enabled: edge.kind !== 'neighbour', scaleFactor: 0.5 } },
      color: { color: colour, highlight: colour, hover: colour, opacity: dim ? 0.15 : 1 },
      selfReference: { size: 18 + 12 * edge.bend, angle: 1.5 * Math.PI }, // a loop hangs below its node, see labels.js
      smooth: edge.bend ? { enabled: true, type: 'curvedCW', roundness: 0.28 * edge.bend } : given.options.edges.smooth,
    };
  }

  /**
   * Draw all labels, over the lines, where the page has placed them.
   * @param {CanvasRenderingContext2D} pen
   */
  function drawLabels(pen) {
    const { ink, mute, faint, paper, ghost } = colours;
    /** @type {Record<string, string>} */
    const tones = { topic: ink, entity: ink, end: ink, ghost, stray: ink, value: ink };
    const [nodeOf, edgeOf] = [new Map(current.nodes.map((node) => [node.id, node])), new Map(current.edges.map((edge) => [edge.id, edge]))];
    Object.assign(pen, { lineJoin: 'round', lineWidth: 4, strokeStyle: paper, textBaseline: 'middle' });
    for (const label of current.labels) {
      const [node, edge] = [nodeOf.get(label.node ?? ''), edgeOf.get(label.edge ?? '')];
      if (hidden.includes(node ? kindOfNode(node) : edge ? kindOfEdge(edge) : '')) continue;
      const dim = node ? dimmed(node.id) : lit.size > 0 && !edge?.paths.some((key) => lit.has(key));
      const colour = dim ? faint : tones[label.tone] ?? mute;
      Object.assign(pen, { font: `${label.weight} ${label.size}px ${FACE}`, textAlign: label.align, fillStyle: colour });
      label.lines.forEach((words, i) => {
        pen.strokeText(words, label.x, label.y + label.step * i);
        pen.fillText(words, label.x, label.y + label.step * i);
      });
    }
  }
  network.on('afterDrawing', drawLabels);

  // a new picture ---------------------------------------------------------------------------------

  const nodeLooks = () => current.nodes.map(nodeLook);
  const edgeLooks = () => current.edges.filter((edge) => nodes.get(edge.from) && nodes.get(edge.to)).map(edgeLook);

  /** @type {(set: any, wanted: any[]) => void} */
  function sync(set, wanted) {
    const keep = new Set(wanted.map((item) => item.id));
    set.remove(set.getIds().filter((/** @type {string} */ id) => !keep.has(id)));
    set.update(wanted);
  }

  function paint() {
    sync(edges, []); // first, because vis-network keeps the edges of nodes that are gone
    sync(nodes, nodeLooks());
    sync(edges, edgeLooks());
  }

  function repaint() {
    nodes.update(nodeLooks());
    edges.update(edgeLooks());
  }

  // The browser runs no animation frames in a frame that is out of sight, and vis-network draws in animation frames
  // only. So out of sight everything is measured, fitted and drawn at once. The browser does not show what is drawn
  // there (in a print, or in a picture of the whole page), so the page gets a still image to lay underneath.
  let inSight = false;
  /** @type {number|undefined} */
  let timer;
  function fit() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      network.setSize('100%', '100%');
      network.canvas.setSize();
      const moving = inSight && !calm;
      if (current.box && box.clientWidth && box.clientHeight) {
        const { left, right, top, bottom } = current.box;
        const scale = Math.min(1.1, box.clientWidth / (right - left + 24), box.clientHeight / (bottom - top + 24));
        const animation = moving ? { duration: 350, easingFunction: 'easeInOutQuad' } : false;
        network.moveTo({ position: { x: (left + right) / 2, y: (top + bottom) / 2 }, scale, animation });
      }
      if (!moving) network.redraw();
      if (!inSight) sendStill();
      tell({ type: 'drawn', nodes: nodes.length });
    }, 60);
  }

  const canvas = () => /** @type {HTMLCanvasElement} */ (box.querySelector('canvas'));

  function sendStill() {
    const drawn = canvas();
    const count = nodes.length;
    if (!drawn.width || !drawn.height) return;
    createImageBitmap(drawn).then((still) => parent.postMessage({ type: 'still', still, nodes: count }, '*', [still]));
  }

  new IntersectionObserver((entries) => {
    inSight = entries[entries.length - 1].isIntersecting;
    if (!inSight) { sendStill(); return; }
    network.redraw();
    requestAnimationFrame(() => requestAnimationFrame(() => tell({ type: 'seen' })));
  }).observe(box);

  /** What the canvas shows, with a background, as a data address. */
  function photograph() {
    const drawn = canvas();
    const copy = document.createElement('canvas');
    Object.assign(copy, { width: drawn.width, height: drawn.height });
    const pen = /** @type {CanvasRenderingContext2D} */ (copy.getContext('2d'));
    pen.fillStyle = colours.paper;
    pen.fillRect(0, 0, copy.width, copy.height);
    pen.drawImage(drawn, 0, 0);
    return copy.toDataURL('image/png');
  }

  // messages --------------------------------------------------------------------------------------

  /**
   * Light up what has one of these keys and dim the rest. Keys that are not in the picture dim nothing.
   * @param {string[]} keys
   */
  function light(keys) {
    const known = new Set([...current.edges.flatMap((edge) => edge.paths), ...current.nodes.map((node) => `e:${node.id}`)]);
    lit = new Set(keys.filter((key) => known.has(key)));
    repaint();
  }

  /** @param {string[]} keys */
  function hover(keys) {
    light(keys);
    tell({ type: 'hover', keys });
  }

  network.on('hoverNode', (/** @type {{node: string}} */ { node }) => hover([`e:${node}`, ...pathsOf(node)]));
  network.on('hoverEdge', (/** @type {{edge: string}} */ { edge }) => {
    const keys = current.edges.find((one) => one.id === edge)?.paths ?? [];
    if (keys.length) hover(keys);
  });
  for (const name of ['blurNode', 'blurEdge']) network.on(name, () => hover([]));
  network.on('click', (/** @type {{nodes: string[]}} */ clicked) => tell({ type: 'choose', id: clicked.nodes[0] ?? null }));

  addEventListener('message', ({ data, source }) => {
    if (source !== parent) return;
    if (data.type === 'show') { current = data; paint(); fit(); }
    if (data.type === 'light') light(data.keys);
    if (data.type === 'point') network.selectNodes([data.id]);
    if (data.type === 'filter') { hidden = data.hidden; repaint(); }
    if (data.type === 'png') tell({ type: 'png', url: photograph() });
    if (data.type === 'theme') { colours = PALETTE[data.dark ? 'dark' : 'light']; repaint(); }
  });
  addEventListener('resize', () => { repaint(); fit(); });
  tell({ type: 'ready' });
})();
