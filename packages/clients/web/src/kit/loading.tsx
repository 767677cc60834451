import { useLingui } from '@lingui/react';
import styles from './kit.module.css';

/** Outlines of rows while they are loading. Fast answers replace them before they are visible. */
export function Loading() {
  const { i18n } = useLingui();
  return (
    <output className={styles.loading}>
      <span className={styles.hiddenText}>{i18n._('Loading…')}</span>
    </output>
  );
}
