import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import styles from './kit.module.css';

interface EmptyProps {
  readonly icon: LucideIcon;
  readonly text: string;
  /** Explains what belongs there. */
  readonly hint?: string | undefined;
  /** Links and buttons to the next step. */
  readonly children?: ReactNode;
}

/** Page or list without content. */
export function Empty({ icon: Icon, text, hint, children }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <Icon size={32} strokeWidth={1.5} aria-hidden />
      <p>{text}</p>
      {hint !== undefined && <p className={styles.hint}>{hint}</p>}
      {children}
    </div>
  );
}
