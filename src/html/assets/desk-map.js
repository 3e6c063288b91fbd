// The map in the form of a venue. Its pin sets the two fields of the coordinates, which also work without it.

const TILE = 256;
const [FARTHEST, NEAREST, CLOSE] = [2, 18, 16];
const HIGHEST = 85.05;

/** Positions on the map run from 0 to 1, from west to east and from north to south (Web Mercator). */
const placeOf = ({ lat, lng }) => ({ x: (lng + 180) / 360, y: (1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2 });
const coordinatesOf = ({ x, y }) => ({ lat: (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI, lng: x * 360 - 180 });
const onMap = ({ x, y }) => ({ x: x - Math.floor(x), y: Math.min(Math.max(y, 0), 1) });

/**
 * Follows a pointer until it is released. `moved` is called with the distance of each movement, `left` at the end with
 * whether the pointer has moved.
 */
function follow(target, moved, left) {
  target.addEventListener('pointerdown', (down) => {
    if (down.button !== 0) return;
    target.setPointerCapture(down.pointerId);
    let [x, y, far] = [down.clientX, down.clientY, false];
    const move = (event) => {
      far ||= Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > 4;
      if (far) moved(event.clientX - x, event.clientY - y);
      if (far) [x, y] = [event.clientX, event.clientY];
    };
    const stop = (event) => {
      target.removeEventListener('pointermove', move);
      if (event.type === 'pointerup') left(event, far);
    };
    target.addEventListener('pointermove', move);
    for (const end of ['pointerup', 'pointercancel']) target.addEventListener(end, stop, { once: true });
  });
}

const element = (name, options = {}) => Object.assign(document.createElement(name), options);

/** Creates the elements of a map in its box. */
function partsOf(box, zoomBy) {
  const { attribution, pinLabel, nearerLabel, fartherLabel } = box.dataset;
  const [frame, ground, bar] = ['map-frame', 'map-ground', 'map-bar'].map((className) => element('div', { className }));
  const pin = element('button', { type: 'button', className: 'map-pin', ariaLabel: pinLabel });
  const told = element('p', { className: 'map-told', role: 'status' });
  for (const [textContent, ariaLabel, by] of [
    ['+', nearerLabel, 1],
    ['−', fartherLabel, -1],
  ]) {
    const button = element('button', { type: 'button', textContent, ariaLabel });
    button.addEventListener('click', () => zoomBy(by));
    bar.append(button);
  }
  frame.append(ground, pin, bar);
  box.append(frame, told, ...(attribution ? [element('p', { className: 'hint', textContent: attribution })] : []));
  box.hidden = false;
  return { frame, ground, pin, told };
}

function showMap(box) {
  const form = box.closest('form');
  const fields = ['geo_lat', 'geo_lng'].map((name) => form.querySelector(`[name="${name}"]`));
  if (fields.includes(null)) return;
  const { tiles, lat, lng } = box.dataset;
  const { frame, ground, pin, told } = partsOf(box, (by) => zoomBy(by));

  const typed = () => {
    const [lat, lng] = fields.map(({ value }) => (value.trim() === '' ? Number.NaN : Number(value.replace(',', '.'))));
    return Math.abs(lat) <= HIGHEST && Math.abs(lng) <= 180 ? placeOf({ lat, lng }) : undefined;
  };
  let set = typed();
  let center = set ?? placeOf({ lat: Number(lat), lng: Number(lng) });
  let zoom = set ? CLOSE : Number(box.dataset.zoom);

  const scale = () => TILE * 2 ** zoom;
  const corner = () => ({ x: center.x * scale() - frame.clientWidth / 2, y: center.y * scale() - frame.clientHeight / 2 });
  const placeAt = (x, y) => onMap({ x: (corner().x + x) / scale(), y: (corner().y + y) / scale() });

  /** Draws the visible tiles of the map, and the pin. Tiles that are already drawn stay. */
  const shown = new Map();
  function draw() {
    const { x: left, y: top } = corner();
    const wanted = new Map();
    const count = 2 ** zoom;
    for (let column = Math.floor(left / TILE); column * TILE < left + frame.clientWidth; column += 1)
      for (let row = Math.max(0, Math.floor(top / TILE)); row < count && row * TILE < top + frame.clientHeight; row += 1)
        wanted.set(`${zoom}/${column}/${row}`, { column, row });
    for (const [key, image] of shown)
      if (!wanted.has(key)) {
        image.remove();
        shown.delete(key);
      }
    for (const [key, { column, row }] of wanted) {
      const image = shown.get(key) ?? tileOf(column - Math.floor(column / count) * count, row);
      image.style.left = `${column * TILE - left}px`;
      image.style.top = `${row * TILE - top}px`;
      if (!shown.has(key)) ground.append(image);
      shown.set(key, image);
    }
    const at = set ?? center;
    // The pin is drawn on the nearer side of the date line.
    const across = ((at.x - center.x + 1.5) % 1) - 0.5;
    pin.style.left = `${frame.clientWidth / 2 + across * scale()}px`;
    pin.style.top = `${at.y * scale() - top}px`;
    pin.classList.toggle('map-pin-unset', set === undefined);
  }

  function tileOf(x, y) {
    const image = element('img', { alt: '', draggable: false, referrerPolicy: 'strict-origin-when-cross-origin' });
    image.src = tiles.replace('{z}', zoom).replace('{x}', x).replace('{y}', y);
    return image;
  }

  function zoomBy(by) {
    zoom = Math.min(Math.max(zoom + by, FARTHEST), NEAREST);
    center = set ?? center;
    draw();
  }

  /** Sets the pin to a position, and moves the map if the pin would be out of sight. */
  let writing = false;
  function setPin(place) {
    set = onMap(place);
    const { lat, lng } = coordinatesOf(set);
    const texts = [lat, lng].map((degrees) => degrees.toFixed(6).replace(/\.?0+$/, ''));
    writing = true;
    for (const [at, field] of fields.entries()) {
      field.value = texts[at];
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
    writing = false;
    told.textContent = texts.join(', ');
    const { x: left, y: top } = corner();
    const [x, y] = [set.x * scale() - left, set.y * scale() - top];
    if (x < 24 || y < 40 || x > frame.clientWidth - 24 || y > frame.clientHeight - 8) center = set;
    draw();
  }

  pin.addEventListener('keydown', (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (way) {
      const step = (event.shiftKey ? 64 : 8) / scale();
      const { x, y } = set ?? center;
      setPin({ x: x + way[0] * step, y: y + way[1] * step });
    } else if (event.key === '+' || event.key === '-') zoomBy(event.key === '+' ? 1 : -1);
    else return;
    event.preventDefault();
  });
  pin.addEventListener('click', () => set ?? setPin(center));

  follow(
    pin,
    (x, y) => {
      const { x: pinX, y: pinY } = set ?? center;
      setPin({ x: pinX + x / scale(), y: pinY + y / scale() });
    },
    () => undefined,
  );
  follow(
    ground,
    (x, y) => {
      center = onMap({ x: center.x - x / scale(), y: center.y - y / scale() });
      draw();
    },
    (event, far) => {
      const { left, top } = frame.getBoundingClientRect();
      if (!far) setPin(placeAt(event.clientX - left - frame.clientLeft, event.clientY - top - frame.clientTop));
    },
  );

  const look = () => {
    if (writing) return;
    set = typed();
    center = set ?? center;
    draw();
  };
  for (const field of fields) field.addEventListener('input', look);
  form.addEventListener('restored', look);
  new ResizeObserver(draw).observe(frame);
  draw();
}

for (const box of document.querySelectorAll('[data-tiles]')) showMap(box);
