import { Card } from '../kit/card.js';
import { EmojiGrid } from '../kit/emoji-grid.js';
import type { EmojiEntry } from '../kit/emoji-names.js';
import { useOverlay } from '../kit/overlay.js';

interface Props {
  readonly label: string;
  onPick(emoji: EmojiEntry): void;
}

/** Emoji picker card. */
export function EmojiPicker({ label, onPick }: Props) {
  const { close } = useOverlay();
  return (
    <Card label={label}>
      <EmojiGrid
        label={label}
        onPick={(emoji) => {
          close();
          onPick(emoji);
        }}
      />
    </Card>
  );
}
