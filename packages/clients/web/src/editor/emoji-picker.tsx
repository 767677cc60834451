import { Card } from '../kit/card.js';
import { EmojiGrid } from '../kit/emoji-grid.js';
import type { EmojiEntry } from '../kit/emoji-names.js';
import { useOverlay } from '../kit/overlay.js';

interface Props {
  readonly label: string;
  /** True to offer skin tones, which only texts can contain. */
  readonly hasTones?: boolean;
  onPick(emoji: EmojiEntry): void;
}

/** Emoji picker card. */
export function EmojiPicker({ label, hasTones, onPick }: Props) {
  const { close } = useOverlay();
  return (
    <Card label={label}>
      <EmojiGrid
        label={label}
        hasTones={hasTones === true}
        onPick={(emoji) => {
          close();
          onPick(emoji);
        }}
      />
    </Card>
  );
}
