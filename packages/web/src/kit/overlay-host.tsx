import { overlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';

/** Place of the open menu, dialog or card. */
export function OverlayHost() {
  return useReading(overlay)?.content;
}
