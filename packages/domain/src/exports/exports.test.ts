import { EXPORTS_WINDOW_SECONDS, MAX_RECENT_EXPORTS, requireRoomForExport } from './exports.js';

const NOW = 1_700_000_000;

it.each([
  ['within the window', 1 - EXPORTS_WINDOW_SECONDS, true],
  ['before the window', -EXPORTS_WINDOW_SECONDS, false],
  ['years ahead, by a clock that was wrong', 730 * 86_400, false],
])('counts exports that were requested %s: %s', (_, offset, isRefused) => {
  const exports = Array.from({ length: MAX_RECENT_EXPORTS }, () => ({ requestedAt: NOW + offset }));
  const require = () => requireRoomForExport(exports, NOW);
  if (isRefused) expect(require).toThrow('Exceeded rate limit.');
  else expect(require).not.toThrow();
});
