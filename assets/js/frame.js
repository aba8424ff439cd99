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
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  let colours = PALETTE.light;
  let hidden = [];
  let lit = new Set();
  let current = { nodes: [], edges: [] };

  // on a phone the columns move together, so that labels stay readable
  const narrow = () => innerWidth < 520;
  const squeeze = () => (narrow() ? 0.58 : 1);
  const plain = (text) => { const holder = document.createElement('div'); holder.style.whiteSpace = 'pre-line'; holder.textContent = text; return holder; };

  function nodeLook(node) {
    const { ink, mute, faint, paper, grounded, ghost } = colours;
    const dim = lit.size && !lit.has(`e:${node.id}`) && !pathsOf(node.id).some((key) => lit.has(key));
    const looks = {
      topic: { shape: 'square', size: 11, color: ink, font: ink },
      entity: { shape: 'dot', size: 9, color: grounded, font: ink },
      end: { shape: 'diamond', size: 12, color: grounded, font: ink },
      ghost: { shape: 'dot', size: 8, color: ghost, font: ghost, dashed: true },
      stray: { shape: 'dot', size: 8, color: mute, font: ink },
      neighbour: { shape: 'dot', size: 4, color: faint, font: mute },
      more: { shape: 'text', size: 4, color: faint, font: mute },
    };
    const look = looks[node.group];
    return {
      id: node.id, x: node.x * squeeze(), y: node.y, label: narrow() && node.group === 'neighbour' && !node.named ? '' : node.label, title: node.title ? plain(node.title) : undefined, opacity: dim ? 0.25 : 1,
      shape: look.shape, size: look.size, hidden: hidden.includes(kindOfNode(node)), fixed: { x: false, y: false },
      shapeProperties: { borderDashes: look.dashed ? [3, 3] : false },
      borderWidthSelected: 5,
      color: { border: look.color, background: look.dashed ? paper : look.color, highlight: { border: look.color, background: look.dashed ? paper : look.color }, hover: { border: look.color, background: look.dashed ? paper : look.color } },
      font: { color: dim ? faint : look.font, strokeColor: paper, strokeWidth: 4, size: { neighbour: 11, more: 12, end: 15, topic: 16 }[node.group] ?? 14, face: 'Inter, system-ui, sans-serif' },
    };
  }

  const kindOfNode = (node) => ({ ghost: 'ghost', neighbour: 'neighbour', more: 'neighbour' }[node.group] ?? '');
  const pathsOf = (id) => current.edges.filter((edge) => edge.from === id || edge.to === id).flatMap((edge) => edge.paths);

  function edgeLook(edge) {
    const { mute, faint, paper, grounded, ghost } = colours;
    const on = edge.paths.some((key) => lit.has(key));
    const dim = lit.size && !on;
    const colour = { grounded, ghost, neighbour: faint }[edge.kind];
    return {
      id: edge.id, from: edge.from, to: edge.to, label: edge.label || undefined, title: plain(edge.title), dashes: edge.kind === 'ghost' ? [6, 5] : false,
      hidden: hidden.includes(edge.kind), width: on ? 4 : { grounded: edge.paths.includes('g1') ? 3 : 1.8, ghost: 1.6, neighbour: 1 }[edge.kind],
      arrows: { to: { enabled: edge.kind !== 'neighbour', scaleFactor: 0.5 } },
      color: { color: colour, highlight: colour, hover: colour, opacity: dim ? 0.15 : 1 },
      smooth: edge.bend ? { enabled: true, type: 'curvedCW', roundness: 0.28 * edge.bend } : given.options.edges.smooth,
      font: { color: dim ? faint : edge.kind === 'ghost' ? ghost : mute, strokeColor: paper, strokeWidth: 4, size: 12, face: 'Inter, system-ui, sans-serif' },
    };
  }

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
      network.redraw(); // measures the labels, which the fit needs
      const moving = inSight && !calm;
      network.fit({ animation: moving ? { duration: 350, easingFunction: 'easeInOutQuad' } : false, maxZoomLevel: 1.1 });
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
  const light = (keys) => { lit = new Set(keys); repaint(); };
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
