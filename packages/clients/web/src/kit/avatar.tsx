import { type CSSProperties, useContext, useState } from 'react';
import { type AvatarProps, ComponentsContext } from '../services/components.js';
import { useLoaded } from '../services/loading.js';
import { showsInitials } from '../services/shows-initials.js';
import { useReading } from '../services/use-reading.js';
import styles from './kit.module.css';

/** Avatar of a person, or the initials of the name as a fallback. */
export function Avatar(props: AvatarProps) {
  const { Avatar: Own = UsualAvatar } = useContext(ComponentsContext);
  return <Own {...props} />;
}

type InitialsFor = typeof import('./initials.js').initialsFor;

/** Loaded function, which all avatars share to show initials immediately. */
let initialsFor: InitialsFor | null = null;
const loadInitials = async (): Promise<InitialsFor> => {
  ({ initialsFor } = await import('./initials.js'));
  return initialsFor;
};

function UsualAvatar({ url, name, size }: AvatarProps) {
  const [hasFailed, setFailed] = useState(false);
  const hasInitials = useReading(showsInitials);
  const isMissing = url === null || hasFailed;
  const isWanted = hasInitials || isMissing;
  useLoaded(loadInitials, isWanted && initialsFor === null);
  const initials = isWanted ? initialsFor?.(isMissing ? null : url, name) : null;
  const box = { width: size, height: size, fontSize: size * 0.4 };
  if (isMissing || initials) {
    const style = { ...box, '--hue': initials?.hue } as CSSProperties;
    return (
      <span className={styles.avatar} part="avatar" style={style} aria-hidden>
        {initials?.letters ?? [...name][0]}
      </span>
    );
  }
  return <img className={styles.avatar} part="avatar" style={box} src={url} alt="" onError={() => setFailed(true)} />;
}
