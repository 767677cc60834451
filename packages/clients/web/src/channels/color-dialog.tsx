import { useLingui } from '@lingui/react';
import { useId, useState } from 'react';
import { FormDialog } from '../kit/dialog.js';
import overlays from '../kit/overlays.module.css';
import { useChat } from '../services/context.js';
import styles from './color-dialog.module.css';

/** Zulip's palette for channels. */
const COLORS = [
  ...['#a47462', '#c2726a', '#e4523d', '#e7664d', '#ee7e4a', '#f4ae55'],
  ...['#76ce90', '#53a063', '#94c849', '#bfd56f', '#fae589', '#f5ce6e'],
  ...['#a6dcbf', '#addfe5', '#a6c7e5', '#4f8de4', '#95a5fd', '#b0a5fd'],
  ...['#c2c2c2', '#c8bebf', '#c6a8ad', '#e79ab5', '#bd86e5', '#9987e1'],
];

/** Sets the user's channel color. */
export function ColorDialog({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const channel = chat.sidebar.channel(channelId).peek();
  const [color, setColor] = useState(channel?.color ?? '');
  return (
    <FormDialog
      title={i18n._('Color of #{channel}', { channel: channel?.name ?? '' })}
      action={i18n._('Save')}
      onSubmit={() => chat.commands.setChannelProperty(channelId, 'color', color)}
    >
      <ColorPalette label={i18n._('Color')} color={color} onChange={setColor} />
    </FormDialog>
  );
}

interface PaletteProps {
  readonly label: string;
  readonly color: string;
  onChange(color: string): void;
}

export function ColorPalette({ label, color, onChange }: PaletteProps) {
  const { i18n } = useLingui();
  const group = useId();
  return (
    <>
      <div className={styles.palette} role="radiogroup" aria-label={label}>
        {COLORS.map((each) => (
          <input
            key={each}
            type="radio"
            name={group}
            className={styles.swatch}
            style={{ backgroundColor: each }}
            aria-label={each}
            checked={each === color}
            onChange={() => onChange(each)}
          />
        ))}
      </div>
      <label className={overlays.option}>
        {i18n._('Another color')}
        <input type="color" value={color} onChange={(event) => onChange(event.target.value)} />
      </label>
    </>
  );
}
