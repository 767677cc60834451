import { useContext, useState } from 'react';
import { type AvatarProps, ComponentsContext } from '../services/components.js';
import styles from './kit.module.css';

/** Avatar of a person, or the first letter of the name as a fallback. */
export function Avatar(props: AvatarProps) {
  const { Avatar: Own = UsualAvatar } = useContext(ComponentsContext);
  return <Own {...props} />;
}

function UsualAvatar({ url, name, size }: AvatarProps) {
  const [hasFailed, setFailed] = useState(false);
  const box = { width: size, height: size, fontSize: size * 0.45 };
  if (url === null || hasFailed) {
    return (
      <span className={styles.avatar} part="avatar" style={box} aria-hidden>
        {[...name][0] ?? '?'}
      </span>
    );
  }
  return <img className={styles.avatar} part="avatar" style={box} src={url} alt="" onError={() => setFailed(true)} />;
}
