import '@infolektuell/noto-color-emoji/index.css';

const FONT = '"Parley Noto Emoji"';
/** Emoji of the smallest font file. */
const SAMPLE = '🚩';

/** Uses the system's emoji below an element if the browser loads the fonts, but draws nothing, as WebKitGTK does. */
export async function checkEmojiFonts(root: HTMLElement): Promise<void> {
  if (!navigator.vendor.startsWith('Apple')) return;
  // The system's emoji are drawn if the file does not load.
  await document.fonts.load(`16px ${FONT}`, SAMPLE).catch(() => {});
  const canvas = Object.assign(document.createElement('canvas'), { width: 20, height: 20 });
  const context = canvas.getContext('2d')!;
  context.font = `16px ${FONT}, sans-serif`;
  context.fillText(SAMPLE, 0, 16);
  if (context.getImageData(0, 0, 20, 20).data.every((value) => value === 0))
    root.style.setProperty('--parley-font-emoji', '"Apple Color Emoji", "Noto Color Emoji", sans-serif');
}
