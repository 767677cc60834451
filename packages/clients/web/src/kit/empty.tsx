import type { Icon } from '../icons/icon.js';
import styles from './kit.module.css';
import overlays from './overlays.module.css';

interface EmptyProps {
  readonly icon: Icon;
  readonly text: string;
  /** Explains what appears here. */
  readonly hint?: string | undefined;
  /** Link to the next step. */
  readonly link?: { readonly href: string; readonly text: string } | undefined;
}

/** Page or list without content. */
export function Empty({ icon: Icon, text, hint, link }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <Icon size={32} strokeWidth={1.5} aria-hidden />
      <p>{text}</p>
      {hint !== undefined && <p className={styles.hint}>{hint}</p>}
      {link && (
        <a className={overlays.button} href={link.href}>
          {link.text}
        </a>
      )}
    </div>
  );
}
