// Inside the graph's frame: shows what the page sends, says what the pointer is on. A classic script, for the
// sandboxed frame has no origin of its own. Labels are drawn on a canvas, so no text becomes markup.
(() => {
  const PALETTE = {
    light: { ink: '#1c1d21', mute: '#6d7078', faint: '#cfccc3', paper: '#ffffff', grounded: '#00795a', ghost: '#b84600' },
    dark: { ink: '#ecebe6', mute: '#a3a6ad', faint: '#4a4d55', paper: '#1d1f24', grounded: '#3fc79d', ghost: '#ff9a5c' },
  };
  const given = JSON.parse(document.getElementById('network').textContent);
  const box = document.getElementById('graph');
  const nodes = new vis.DataSet(given.nodes);
  const edges = new vis.DataSet(given.edges);
  const network = new vis.Network(box, { nodes, edges }, given.options);
  const FACE = 'Inter, system-ui, sans-serif';
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  let colours = PALETTE.light;
  let hidden = [];
  let lit = new Set();
  let current = { nodes: [], edges: [], labels: [], box: null };

  const plain = (text) => { const holder = document.createElement('div'); holder.style.whiteSpace = 'pre-line'; holder.textContent = text; return holder; };

  function nodeLook(node) {
    const { ink, mute, faint, paper, grounded, ghost } = colours;
    const dim = dimmed(node.id);
    const looks = {
      topic: { shape: 'square', size: 11, color: ink },
      entity: { shape: 'dot', size: 9, color: grounded },
      end: { shape: 'diamond', size: 11, color: grounded },
      ghost: { shape: 'dot', size: 8, color: ghost, open: true, dashed: true },
      stray: { shape: 'dot', size: 8, color: mute },
      looked: { shape: 'dot', size: 6, color: mute },
      dropped: { shape: 'dot', size: 6, color: mute, open: true },
      neighbour: { shape: 'dot', size: 4, color: faint },
      more: { shape: 'text', size: 4, color: faint },
    };
    const look = looks[node.group];
    return {
      id: node.id, x: node.x, y: node.y, label: node.group === 'more' ? node.label : undefined, title: node.title ? plain(node.title) : undefined, opacity: dim ? 0.25 : 1,
      shape: look.shape, size: look.size, hidden: hidden.includes(kindOfNode(node)), fixed: { x: false, y: false },
      shapeProperties: { borderDashes: look.dashed ? [3, 3] : false },
      borderWidthSelected: 5,
      color: { border: look.color, background: look.open ? paper : look.color, highlight: { border: look.color, background: look.open ? paper : look.color }, hover: { border: look.color, background: look.open ? paper : look.color } },
      font: { color: mute, strokeColor: paper, strokeWidth: 4, size: 12, face: FACE },
    };
  }

  const kindOfNode = (node) => ({ ghost: 'ghost', neighbour: 'neighbour', more: 'neighbour', looked: 'looked', dropped: 'looked' }[node.group] ?? '');
  const kindOfEdge = (edge) => (edge.kind === 'dropped' ? 'looked' : edge.kind);
  const dimmed = (id) => lit.size > 0 && !lit.has(`e:${id}`) && !pathsOf(id).some((key) => lit.has(key));
  const pathsOf = (id) => current.edges.filter((edge) => edge.from === id || edge.to === id).flatMap((edge) => edge.paths);

  function edgeLook(edge) {
    const { mute, faint, grounded, ghost } = colours;
    const on = edge.paths.some((key) => lit.has(key));
    const dim = lit.size && !on;
    const colour = { grounded, ghost, neighbour: faint, looked: mute, dropped: faint }[edge.kind];
    return {
      id: edge.id, from: edge.from, to: edge.to, title: plain(edge.title ?? ''), dashes: { ghost: [6, 5], dropped: [2, 4] }[edge.kind] ?? false,
      hidden: hidden.includes(kindOfEdge(edge)), width: on ? 4 : { grounded: edge.paths.includes('g1') ? 3 : 1.8, ghost: 1.6 }[edge.kind] ?? 1,
      arrows: { to: { enabled: edge.kind !== 'neighbour', scaleFactor: 0.5 } },
      color: { color: colour, highlight: colour, hover: colour, opacity: dim ? 0.15 : 1 },
      selfReference: { size: 18 + 12 * edge.bend, angle: 1.5 * Math.PI }, // of an edge from a node to itself, below it; see labels.js
      smooth: edge.bend ? { enabled: true, type: 'curvedCW', roundness: 0.28 * edge.bend } : given.options.edges.smooth,
    };
  }

  /** All names, over the lines; where they stand is the page's to say. */
  function write(pen) {
    const { ink, mute, faint, paper, grounded, ghost } = colours;
    const tones = { topic: ink, entity: ink, end: ink, ghost, stray: ink, looked: mute, dropped: mute, neighbour: mute, grounded: mute };
    const [kinds, shown] = [new Map(current.nodes.map((node) => [node.id, node])), new Map(current.edges.map((edge) => [edge.id, edge]))];
    Object.assign(pen, { lineJoin: 'round', lineWidth: 4, strokeStyle: paper, textBaseline: 'middle' });
    for (const { node, edge, lines, step, x, y, align, size, weight, tone } of current.labels) {
      const [one, line] = [kinds.get(node), shown.get(edge)];
      if (hidden.includes(one ? kindOfNode(one) : kindOfEdge(line))) continue;
      const dim = one ? dimmed(node) : lit.size > 0 && !line.paths.some((key) => lit.has(key));
      Object.assign(pen, { font: `${weight} ${size}px ${FACE}`, textAlign: align, fillStyle: dim ? faint : edge && line.kind === 'ghost' ? ghost : tones[tone] ?? mute });
      lines.forEach((words, i) => { pen.strokeText(words, x, y + step * i); pen.fillText(words, x, y + step * i); });
    }
  }
  network.on('afterDrawing', write);

  function sync(set, wanted) {
    const keep = new Set(wanted.map((item) => item.id));
    set.remove(set.getIds().filter((id) => !keep.has(id)));
    set.update(wanted);
  }

  function paint() {
    sync(edges, []); // edges follow nodes: an edge to a missing node is drawn nowhere, but vis keeps it
    sync(nodes, current.nodes.map(nodeLook));
    sync(edges, current.edges.filter((edge) => nodes.get(edge.from) && nodes.get(edge.to)).map(edgeLook));
  }

  function repaint() {
    nodes.update(current.nodes.map(nodeLook));
    edges.update(current.edges.filter((edge) => nodes.get(edge.from) && nodes.get(edge.to)).map(edgeLook));
  }

  // The browser calls no animation frame in a frame that is out of sight, and vis draws in animation frames only:
  // out of sight everything is measured, fitted and drawn here and now. What is drawn there the browser does not
  // show either (a print, a picture of the whole page), so the page gets a still of it to lay underneath.
  let inSight = false;
  let timer = 0;
  function fit() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      network.setSize('100%', '100%');
      network.canvas.setSize();
      const moving = inSight && !calm;
      if (current.box && box.clientWidth && box.clientHeight) {
        const { left, right, top, bottom } = current.box;
        const scale = Math.min(1.1, box.clientWidth / (right - left + 24), box.clientHeight / (bottom - top + 24));
        network.moveTo({ position: { x: (left + right) / 2, y: (top + bottom) / 2 }, scale, animation: moving ? { duration: 350, easingFunction: 'easeInOutQuad' } : false });
      }
      if (!moving) network.redraw();
      if (!inSight) sendStill();
      parent.postMessage({ type: 'drawn', nodes: nodes.length }, '*');
    }, 60);
  }
  function sendStill() {
    const drawn = box.querySelector('canvas');
    const count = nodes.length;
    if (drawn.width && drawn.height) createImageBitmap(drawn).then((still) => parent.postMessage({ type: 'still', still, nodes: count }, '*', [still]));
  }
  new IntersectionObserver((entries) => {
    inSight = entries.at(-1).isIntersecting;
    if (!inSight) { sendStill(); return; }
    network.redraw();
    requestAnimationFrame(() => requestAnimationFrame(() => parent.postMessage({ type: 'seen' }, '*')));
  }).observe(box);

  const tellHover = (keys) => parent.postMessage({ type: 'hover', keys }, '*');
  /** Light up what has one of these keys and dim the rest; what is not in the picture at all dims nothing. */
  function light(keys) {
    const known = new Set([...current.edges.flatMap((edge) => edge.paths), ...current.nodes.map((node) => `e:${node.id}`)]);
    lit = new Set(keys.filter((key) => known.has(key)));
    repaint();
  }
  network.on('hoverNode', ({ node }) => { const keys = [`e:${node}`]; light([...keys, ...pathsOf(node)]); tellHover([...keys, ...pathsOf(node)]); });
  network.on('hoverEdge', ({ edge }) => { const keys = current.edges.find((one) => one.id === edge)?.paths ?? []; if (keys.length) { light(keys); tellHover(keys); } });
  network.on('click', ({ nodes: [id] }) => parent.postMessage({ type: 'choose', id: id ?? null }, '*'));
  for (const name of ['blurNode', 'blurEdge']) network.on(name, () => { light([]); tellHover([]); });

  /** What the canvas shows, on paper instead of on nothing. */
  function photograph() {
    const drawn = box.querySelector('canvas');
    const copy = document.createElement('canvas');
    copy.width = drawn.width;
    copy.height = drawn.height;
    const pen = copy.getContext('2d');
    pen.fillStyle = colours.paper;
    pen.fillRect(0, 0, copy.width, copy.height);
    pen.drawImage(drawn, 0, 0);
    return copy.toDataURL('image/png');
  }

  addEventListener('message', ({ data, source }) => {
    if (source !== parent) return;
    if (data.type === 'show') { current = data; paint(); fit(); }
    if (data.type === 'light') light(data.keys);
    if (data.type === 'point') { network.selectNodes([data.id]); network.focus(data.id, { scale: 1, animation: inSight && !calm }); }
    if (data.type === 'filter') { hidden = data.hidden; repaint(); }
    if (data.type === 'png') parent.postMessage({ type: 'png', url: photograph() }, '*');
    if (data.type === 'theme') { colours = PALETTE[data.dark ? 'dark' : 'light']; repaint(); }
  });
  addEventListener('resize', () => { repaint(); fit(); });
  parent.postMessage({ type: 'ready' }, '*');
})();
