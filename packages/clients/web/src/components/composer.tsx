import { useRef } from 'react';
import type { ComposerHandle } from '../conversation/composer.js';
import { Writing } from '../conversation/writing.js';
import { type PartProps, SmallPart } from '../element/part.js';
import type { Place } from '../element/place.js';
import { useAddress } from '../services/context.js';
import { useDrawn } from '../services/loading.js';

/** Input field for one conversation that grows with its text. */
export function Composer(props: Omit<PartProps, 'onUnread' | 'onOpen'> & Place) {
  return (
    <SmallPart {...props} isInline>
      <Current />
    </SmallPart>
  );
}

function Current() {
  const { address } = useAddress();
  const handle = useRef<ComposerHandle>(null);
  useDrawn(true);
  return address?.view === 'narrow' && <Writing narrow={address.narrow} composer={handle} />;
}
