import { useState } from 'react';
import { ColorPalette } from '../src/channels/color-dialog.js';
import { TimeField } from '../src/editor/time-field.js';
import { Bell, PencilLine, Trash2 } from '../src/icons/icons.js';
import { Avatar } from '../src/kit/avatar.js';
import { UnreadBadge } from '../src/kit/badge.js';
import { Emoji } from '../src/kit/emoji.js';
import { Empty } from '../src/kit/empty.js';
import { ErrorBoundary } from '../src/kit/error-boundary.js';
import { IconButton } from '../src/kit/icon-button.js';
import { Loading } from '../src/kit/loading.js';
import overlays from '../src/kit/overlays.module.css';
import { PickField } from '../src/kit/pick-field.js';
import { RowList } from '../src/kit/row-list.js';
import { MemberList } from '../src/managing/member-list.js';
import { PeopleList } from '../src/people/people-list.js';
import { PresenceDot } from '../src/people/presence-dot.js';
import { type Exhibit, nothing } from './exhibit.js';
import styles from './gallery.module.css';
import { personId } from './world.js';

const PICKS = ['King Hamlet', 'Cordelia', 'אבנר בן־שלום', 'Maximiliane Theodora Charlotte von und zu Donau'].map(
  (name, index) => ({ key: String(index), name, detail: 'Member' }),
);

function Picking({
  chosen,
  isDisabled = false,
}: {
  readonly chosen: readonly string[];
  readonly isDisabled?: boolean;
}) {
  const [keys, setKeys] = useState(chosen);
  return (
    <PickField
      label="People"
      placeholder="Names"
      chosen={PICKS.filter(({ key }) => keys.includes(key))}
      options={PICKS}
      onChange={setKeys}
      isDisabled={isDisabled}
    />
  );
}

function Palette() {
  const [color, setColor] = useState('#76ce90');
  return <ColorPalette label="Colour" color={color} onChange={setColor} />;
}

export const EXPECTED = new Error('thrown on purpose');

const Throws = (): never => {
  throw EXPECTED;
};

/** Small components. */
export const KIT: readonly Exhibit[] = [
  {
    name: 'buttons: usual, pressed, disabled',
    draw: () => (
      <div className={styles.row}>
        <IconButton icon={Bell} label="Bell" onClick={nothing} />
        <IconButton icon={Bell} label="Pressed" isPressed onClick={nothing} />
        <IconButton icon={Trash2} label="Disabled" isDisabled onClick={nothing} />
      </div>
    ),
  },
  {
    name: 'buttons with a text: usual, main, dangerous, disabled',
    draw: () => (
      <div className={styles.row}>
        {(['button', 'primary', 'dangerous'] as const).map((kind) => (
          <button key={kind} type="button" className={overlays[kind]}>
            Save
          </button>
        ))}
        <button type="button" className={overlays.button} disabled>
          Save
        </button>
      </div>
    ),
  },
  {
    name: 'choices: on, off, disabled',
    draw: () => (
      <div className={styles.row}>
        {(['checkbox', 'radio'] as const).flatMap((type) =>
          [true, false].flatMap((isOn) =>
            [false, true].map((isDisabled) => (
              <label key={`${type} ${isOn} ${isDisabled}`} className={overlays.option}>
                <input type={type} checked={isOn} disabled={isDisabled} onChange={nothing} /> {isOn ? 'On' : 'Off'}
              </label>
            )),
          ),
        )}
      </div>
    ),
  },
  {
    name: 'fields with a text and a list',
    draw: () => (
      <div className={styles.row}>
        <label className={overlays.field}>
          Name
          <input defaultValue="Cordelia" />
        </label>
        <label className={overlays.field}>
          Role
          <select defaultValue="Member">
            <option>Member</option>
            <option>Guest</option>
          </select>
        </label>
      </div>
    ),
  },
  { name: 'loading', draw: () => <Loading /> },
  {
    name: 'nothing there',
    draw: () => (
      <Empty
        icon={PencilLine}
        text="You have no drafts."
        hint="Unsent drafts appear here."
        link={{ href: '#kit', text: 'Write' }}
      />
    ),
  },
  {
    name: 'pictures: with and without an address',
    draw: ({ baseUrl }) => (
      <div className={styles.row}>
        <Avatar url={`${baseUrl}picture.svg`} name="Desdemona" size={40} />
        <Avatar url={null} name="Desdemona" size={40} />
        <Avatar url={null} name="אבנר" size={24} />
      </div>
    ),
  },
  {
    name: 'unread counts',
    draw: () => (
      <div className={styles.row}>
        {[1, 12, 999, 50_001].map((count) => (
          <UnreadBadge key={count} count={count} />
        ))}
        <UnreadBadge count={3} isMuted />
      </div>
    ),
  },
  {
    name: 'emoji, presence',
    draw: () => (
      <div className={styles.row}>
        <Emoji type="unicode_emoji" code="1f389" name="tada" />
        <Emoji type="realm_emoji" code="1" name="green_tick" />
        {(['active', 'idle', 'offline'] as const).map((presence) => (
          <PresenceDot key={presence} presence={presence} />
        ))}
      </div>
    ),
  },
  { name: 'field for people, empty', draw: () => <Picking chosen={[]} /> },
  { name: 'field for people, full', draw: () => <Picking chosen={['0', '1', '2', '3']} /> },
  { name: 'field for people, disabled', draw: () => <Picking chosen={['1', '3']} isDisabled /> },
  { name: 'colours', draw: () => <Palette /> },
  { name: 'time', draw: () => <TimeField legend="When" initial={1_900_000_000} onChange={nothing} /> },
  {
    name: 'list of rows',
    draw: () => (
      <RowList keys={[1, 2, 3, 4, 5, 6, 7, 8, 9]} label="Rows" rowHeight={32} maxHeight={160}>
        {(key) => (
          <button type="button" className={styles.open}>
            Row {key}
          </button>
        )}
      </RowList>
    ),
  },
  {
    name: 'people',
    height: 260,
    draw: () => (
      <PeopleList userIds={['King', 'Cordelia', 'Max', 'אבנר', 'Desdemona'].map(personId)} label="People" isFilling />
    ),
  },
  {
    name: 'members',
    height: 300,
    draw: () => (
      <MemberList userIds={['King', 'Cordelia', 'Max', 'אבנר'].map(personId)} label="Members" detail={() => 'Member'}>
        {() => (
          <button type="button" className={styles.open}>
            Remove
          </button>
        )}
      </MemberList>
    ),
  },
  {
    name: 'component that failed',
    draw: () => (
      <ErrorBoundary text="This page could not be shown.">
        <Throws />
      </ErrorBoundary>
    ),
  },
];
