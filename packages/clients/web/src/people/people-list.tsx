import { Emoji } from '../kit/emoji.js';
import { RowList } from '../kit/row-list.js';
import { useChat } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import styles from './people.module.css';
import { PersonButton } from './person-button.js';
import { PresenceDot } from './presence-dot.js';

const ROW_HEIGHT = 44;
const MAX_HEIGHT = 360;

interface Props {
  readonly userIds: readonly number[];
  readonly label: string;
  /** True to fill the container. */
  readonly isFilling?: boolean;
}

/** People with their presence. */
export function PeopleList({ userIds, label, isFilling = false }: Props) {
  return (
    <RowList keys={userIds} label={label} rowHeight={ROW_HEIGHT} {...(!isFilling && { maxHeight: MAX_HEIGHT })}>
      {(userId) => <Person userId={userId} />}
    </RowList>
  );
}

function Person({ userId }: { readonly userId: number }) {
  const person = useReading(useChat().people.person(userId));
  return (
    <PersonButton person={person} size={28} className={styles.person}>
      <span className={styles.names}>
        <span className={styles.name}>
          <bdi className={styles.nameText}>{person.name}</bdi>
          {person.statusEmoji && <Emoji {...person.statusEmoji} />}
        </span>
        {person.statusText !== '' && <bdi className={styles.status}>{person.statusText}</bdi>}
      </span>
      {!person.isBot && <PresenceDot presence={person.presence} />}
    </PersonButton>
  );
}
