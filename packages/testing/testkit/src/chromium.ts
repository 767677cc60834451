import { existsSync } from 'node:fs';

/** Path of the system's Chromium; undefined if it is not installed. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Flags for pages with measured time or output. */
export const CHROMIUM_FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  // Each window would load two invisible pages for its address bar.
  '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup',
];
