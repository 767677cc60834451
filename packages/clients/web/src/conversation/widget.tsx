import { useLingui } from '@lingui/react';
import { type MessageRow, type Poll, type TodoList, type WidgetAction, widgetOf } from '@parley/chat';
import { type ReactNode, useId, useRef, useState } from 'react';
import kit from '../kit/kit.module.css';
import { useChat, useComputed, useFieldText, useNames, useServices } from '../services/context.js';
import { isOffline, reportFailure } from '../services/failures.js';
import styles from './widget.module.css';

interface Props {
  readonly message: MessageRow;
}

/** Poll or to-do list with voting, ticking and adding. */
export function Widget({ message }: Props) {
  const chat = useChat();
  const widget = widgetOf(message.submessages);
  const id = message.id!;
  const canAct = useComputed(() => chat.rights.canReact(id), [chat, id]);
  const [isUnsaved, setUnsaved] = useState(false);
  const { i18n } = useLingui();
  const saved = async (call: Promise<void>) => {
    setUnsaved(false);
    try {
      await call;
      return true;
    } catch (error) {
      if (isOffline(error)) setUnsaved(true);
      else reportFailure(error);
      return false;
    }
  };
  if (!widget) return null;
  const body: BodyProps = {
    id,
    isOwn: message.isOwn,
    act: (action) => saved(chat.commands.act(id, action)),
    add: (make) => saved(chat.commands.addTo(id, make)),
  };
  return (
    <fieldset className={styles.widget} disabled={!canAct}>
      {widget.kind === 'poll' ? <PollBody poll={widget} {...body} /> : <TodoBody list={widget} {...body} />}
      {isUnsaved && (
        <p role="alert" className={styles.unsaved}>
          {i18n._('This was not saved, because there was no connection. Please try again.')}
        </p>
      )}
    </fieldset>
  );
}

interface BodyProps {
  /** Id of the widget's message. */
  readonly id: number;
  /** True for the author. */
  readonly isOwn: boolean;
  /** Resolves to false if the server rejected the action. */
  act(action: WidgetAction): Promise<boolean>;
  add(make: (index: number) => WidgetAction): Promise<boolean>;
}

function PollBody({ id, isOwn, poll, act, add }: BodyProps & { readonly poll: Poll }) {
  const { i18n } = useLingui();
  const voters = new Set(poll.options.flatMap(({ voterIds }) => voterIds)).size;
  return (
    <>
      <legend dir="auto">{poll.question === '' ? i18n._('Poll') : poll.question}</legend>
      <ul className={styles.rows}>
        {poll.options.map((option) => (
          <Option key={option.key} option={option} voters={voters} act={act} />
        ))}
      </ul>
      <AddField
        field={`add ${id}`}
        label={i18n._('New option')}
        onAdd={(option) => add((idx) => ({ type: 'new_option', option, idx }))}
        isKnown={(text) => poll.options.some((option) => option.text === text)}
      />
      {isOwn && (
        <TitleField
          id={id}
          text={poll.question}
          label={i18n._('Change question')}
          onSave={(question) => act({ type: 'question', question })}
        />
      )}
    </>
  );
}

interface OptionProps extends Pick<BodyProps, 'act'> {
  readonly option: Poll['options'][number];
  /** Number of people who voted for any option. */
  readonly voters: number;
}

function Option({ option, voters, act }: OptionProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const { key, text, voterIds } = option;
  const isOwn = voterIds.includes(chat.state.selfId);
  const names = useNames(voterIds.slice(0, 20));
  const textId = useId();
  return (
    <li className={styles.row}>
      <button
        type="button"
        className={styles.vote}
        aria-pressed={isOwn}
        aria-describedby={textId}
        onClick={() => void act({ type: 'vote', key, vote: isOwn ? -1 : 1 })}
      >
        <span className={kit.hiddenText}>{i18n._('Vote')} </span>
        {voterIds.length}
      </button>
      <span id={textId} className={styles.option} dir="auto">
        {text} {names.length > 0 && <span className={styles.detail}>({names.join(', ')})</span>}
        <span className={styles.bar} aria-hidden>
          <span style={{ width: `${voters === 0 ? 0 : Math.round((100 * voterIds.length) / voters)}%` }} />
        </span>
      </span>
    </li>
  );
}

function TodoBody({ id, isOwn, list, act, add }: BodyProps & { readonly list: TodoList }) {
  const { i18n } = useLingui();
  return (
    <>
      <legend dir="auto">{list.title === '' ? i18n._('Task list') : list.title}</legend>
      <ul className={styles.rows}>
        {list.tasks.map(({ key, text, detail, isDone }) => (
          <li key={key}>
            <label className={styles.row}>
              <input type="checkbox" checked={isDone} onChange={() => void act({ type: 'strike', key })} />
              <span data-done={isDone || undefined} dir="auto">
                {text} {detail !== '' && <span className={styles.detail}>{detail}</span>}
              </span>
            </label>
          </li>
        ))}
      </ul>
      <AddField
        field={`add ${id}`}
        label={i18n._('New task')}
        onAdd={(task) => add((key) => ({ type: 'new_task', key, task, desc: '', completed: false }))}
        isKnown={(text) => list.tasks.some((task) => task.text === text)}
      />
      {isOwn && (
        <TitleField
          id={id}
          text={list.title}
          label={i18n._('Change title')}
          onSave={(title) => act({ type: 'new_task_list_title', title })}
        />
      )}
    </>
  );
}

interface TitleFieldProps {
  /** Id of the widget's message. */
  readonly id: number;
  readonly text: string;
  readonly label: string;
  onSave(text: string): Promise<boolean>;
}

/** Button and field with which the author changes the question or title. */
function TitleField({ id, text, label, onSave }: TitleFieldProps) {
  const { i18n } = useLingui();
  const { fieldTexts } = useServices();
  const field = `title ${id}`;
  const isOpen = useComputed(() => fieldTexts.isOpen(field) === true, [fieldTexts, field]);
  const [written, setWritten] = useFieldText(field);
  /** True if the user opened or closed the field. */
  const takesFocus = useRef(false);
  const moving = (change: () => void) => {
    takesFocus.current = true;
    change();
  };
  const open = () => moving(() => fieldTexts.begin(field, text));
  const discard = () => moving(() => setWritten(null));
  if (!isOpen || written === null) {
    return (
      <div className={styles.add}>
        {/* biome-ignore lint/a11y/noAutofocus: the user has just closed the field. */}
        <button type="button" autoFocus={takesFocus.current} onClick={open}>
          {label}
        </button>
      </div>
    );
  }
  const trimmed = written.trim();
  const save = async () => {
    if (trimmed === '') return;
    if (trimmed === text || (await onSave(trimmed))) discard();
  };
  return (
    <EntryForm onSubmit={save}>
      <input
        // biome-ignore lint/a11y/noAutofocus: the user has just asked for this field.
        autoFocus={takesFocus.current}
        aria-label={label}
        value={written}
        onChange={(event) => setWritten(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && moving(() => fieldTexts.close(field))}
      />
      <button type="submit" disabled={trimmed === ''}>
        {i18n._('Save')}
      </button>
      <button type="button" onClick={discard}>
        {i18n._('Cancel')}
      </button>
    </EntryForm>
  );
}

interface AddFieldProps {
  /** Identifies the unsaved text. */
  readonly field: string;
  readonly label: string;
  onAdd(text: string): Promise<boolean>;
  isKnown(text: string): boolean;
}

function AddField({ field, label, onAdd, isKnown }: AddFieldProps): ReactNode {
  const { i18n } = useLingui();
  const { fieldTexts } = useServices();
  const [text, setText] = useFieldText(field);
  const trimmed = text?.trim() ?? '';
  const addText = async () => {
    if (trimmed === '' || isKnown(trimmed)) return;
    setText(null);
    const isAdded = await onAdd(trimmed);
    if (!isAdded && !fieldTexts.texts.peek().has(field)) setText(trimmed);
  };
  return (
    <EntryForm onSubmit={addText}>
      <input
        aria-label={label}
        placeholder={label}
        value={text ?? ''}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" disabled={trimmed === '' || isKnown(trimmed)}>
        {i18n._('Add')}
      </button>
    </EntryForm>
  );
}

function EntryForm({ onSubmit, children }: { onSubmit(): Promise<void>; readonly children: ReactNode }) {
  return (
    <form
      className={styles.add}
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit();
      }}
    >
      {children}
    </form>
  );
}
