import { existsSync } from 'node:fs';

/** Path of the system's Chromium; undefined: there is none. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Flags for pages whose time or result is measured. */
export const CHROMIUM_FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  // Each window would load two pages for its address bar, which nobody sees.
  '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup',
];
