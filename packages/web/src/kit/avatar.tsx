import { useState } from 'react';
import styles from './kit.module.css';

/** Picture of a person, or the first letter of the name where there is none. */
export function Avatar({
  url,
  name,
  size,
}: {
  readonly url: string | null;
  readonly name: string;
  readonly size: number;
}) {
  const [hasFailed, setFailed] = useState(false);
  const box = { width: size, height: size, fontSize: size * 0.45 };
  if (url === null || hasFailed) {
    return (
      <span className={styles.avatar} style={box} aria-hidden>
        {[...name][0] ?? '?'}
      </span>
    );
  }
  return <img className={styles.avatar} style={box} src={url} alt="" onError={() => setFailed(true)} />;
}
