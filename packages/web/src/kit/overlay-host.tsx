import { useRef } from 'react';
import { overlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';

/** Place of the menu, dialog or card that was opened in the same application, element or part. */
export function OverlayHost() {
  const open = useReading(overlay);
  const place = useRef<HTMLSpanElement>(null);
  const isHere = open !== null && open.anchor.closest('[data-parley]') === place.current?.closest('[data-parley]');
  return (
    <>
      <span ref={place} hidden />
      {isHere && open.content}
    </>
  );
}
