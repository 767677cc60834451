import { useLingui } from '@lingui/react';
import type { SettingsSource } from '@parley/chat';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Check } from '../icons/icons.js';
import { FailureText, FormDialog } from '../kit/dialog.js';
import overlays from '../kit/overlays.module.css';
import { useComputed, useServices } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import type { Refusal } from '../services/reasons.js';
import { parseStored } from '../services/storage.js';
import { Field, isAtOnce, type Setting, wordsOf } from './fields.js';
import styles from './managing.module.css';

/** Time to show "Saved", and to wait for the event of a saved value. */
export const SAVED_MS = 2000;

interface SectionProps {
  readonly title?: string;
  readonly settings: readonly Setting[];
  readonly source: SettingsSource;
  readonly children?: ReactNode;
}

/** Settings that are saved individually. Changes from other windows show immediately. */
export function Section({ title, settings, source, children }: SectionProps) {
  return (
    <section className={styles.section}>
      {title !== undefined && <h3>{title}</h3>}
      {settings.map((setting) => (
        <SettingRow key={`${source.key} ${setting.name}`} setting={setting} source={source} />
      ))}
      {children}
    </section>
  );
}

interface Draft {
  readonly value: unknown;
  /** Value of the setting when the user started editing. */
  readonly before: unknown;
  readonly phase: 'editing' | 'saving' | 'saved';
}

/** JSON value stored in this browser; null if there is none. */
const parsed = <T,>(text: string | undefined): T | null => parseStored(text ?? null) as T | null;

/**
 * Returns a function that sends values sequentially, so that the last one wins. Resolves to null for all but the last.
 */
export function useTurns() {
  const last = useRef<Promise<unknown>>(Promise.resolve());
  return async (send: () => Promise<unknown>): Promise<{ readonly failure: Refusal | null } | null> => {
    const turn = last.current.then(send).then(
      () => ({ failure: null }),
      (failure: Refusal) => ({ failure }),
    );
    last.current = turn;
    const outcome = await turn;
    return last.current === turn ? outcome : null;
  };
}

export function SettingRow({ setting, source }: { readonly setting: Setting; readonly source: SettingsSource }) {
  const { i18n } = useLingui();
  const { name } = setting;
  const value = useComputed(() => source.read(name), [source, name]);
  const mayEdit = useComputed(() => source.mayEdit(name), [source, name]);
  const { draft, failure, isSaved, save, change, discard } = useSettingDraft(setting, source, value);
  const phase = draft?.phase;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (draft) void save(draft.value);
  };
  // The event of an own change may precede its response.
  const isChangedElsewhere = phase === 'editing' && value !== draft?.before && value !== draft?.value;
  const isEdited = phase === 'editing' || (phase === 'saving' && !isAtOnce(setting));
  return (
    <form className={styles.row} data-setting={name} onSubmit={submit}>
      <Field setting={setting} value={draft ? draft.value : value} onChange={change} isDisabled={!mayEdit} />
      <span className={styles.state} role="status">
        {isSaved && (
          <>
            <Check size={14} aria-hidden /> {i18n._('Saved')}
          </>
        )}
      </span>
      {isChangedElsewhere && (
        <output className={styles.notice}>
          {i18n._('Someone changed this to “{value}” in the meantime.', { value: wordsOf(setting, value) })}
        </output>
      )}
      {isEdited && <SaveButtons isSaving={phase === 'saving'} onCancel={discard} />}
      <FailureText failure={failure} />
    </form>
  );
}

function SaveButtons({ isSaving, onCancel }: { readonly isSaving: boolean; readonly onCancel: () => void }) {
  const { i18n } = useLingui();
  return (
    <span className={styles.rowButtons}>
      <button type="submit" className={overlays.primary} disabled={isSaving}>
        {i18n._('Save')}
      </button>
      <button type="button" className={overlays.button} onClick={onCancel}>
        {i18n._('Cancel')}
      </button>
    </span>
  );
}

/** Unsaved value of a setting, which survives leaving the page, and the outcome of saving it. */
function useSettingDraft(setting: Setting, source: SettingsSource, value: unknown) {
  const { name } = setting;
  const { fieldTexts } = useServices();
  const field = `setting ${source.key} ${name}`;
  const kept = () => parsed<Omit<Draft, 'phase'>>(fieldTexts.texts.peek().get(field)?.text);
  const forget = (saved: unknown) => {
    if (kept()?.value === saved) fieldTexts.set(field, null);
  };
  const [draft, setDraft] = useState<Draft | null>(() => {
    const unsaved = kept();
    return unsaved && { ...unsaved, phase: 'editing' };
  });
  const [failure, setFailure] = useState<Refusal | null>(null);
  const phase = draft?.phase;
  const drop = () => {
    forget(draft?.value);
    setDraft(null);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the event with the value ends the draft.
  useEffect(() => {
    if (phase === 'saved' || (phase === 'editing' && draft?.value === value)) drop();
  }, [value]);
  useEffect(() => {
    if (phase !== 'saved') return;
    const timer = setTimeout(() => setDraft(null), SAVED_MS);
    return () => clearTimeout(timer);
  }, [phase]);
  const [isSaved, setSaved] = useState(false);
  useEffect(() => {
    if (!isSaved) return;
    const timer = setTimeout(() => setSaved(false), SAVED_MS);
    return () => clearTimeout(timer);
  }, [isSaved]);
  const sendInTurn = useTurns();
  const save = async (next: unknown) => {
    const before = draft ? draft.before : value;
    const seen = draft ? draft.value : value;
    setDraft({ value: next, before, phase: 'saving' });
    setFailure(null);
    setSaved(false);
    const outcome = await sendInTurn(() => source.save({ [name]: next }, { [name]: seen }));
    if (!outcome) return;
    if (outcome.failure) {
      setFailure(outcome.failure);
      // Keeps the text for another attempt.
      setDraft(isAtOnce(setting) ? null : { value: next, before, phase: 'editing' });
    } else {
      forget(next);
      setDraft({ value: next, before, phase: 'saved' });
      setSaved(true);
    }
  };
  const change = (next: unknown) => {
    if (isAtOnce(setting)) return void save(next);
    const before = draft === null ? value : phase === 'editing' ? draft.before : draft.value;
    const isSame = next === value;
    fieldTexts.set(field, isSame ? null : JSON.stringify({ value: next, before }));
    setDraft(isSame ? null : { value: next, before, phase: 'editing' });
  };
  const discard = () => {
    drop();
    setFailure(null);
  };
  return { draft, failure, isSaved, save, change, discard };
}

export type Values = Readonly<Record<string, unknown>>;

/** Form values. Named ones are stored until sent or discarded, even if the page closes. */
export function useValues(initial: Values, keptAs?: string) {
  const { fieldTexts } = useServices();
  const field = `form ${keptAs}`;
  const [before] = useState(initial);
  const [values, setValues] = useState<Values>(() =>
    keptAs === undefined ? before : { ...before, ...parsed<Values>(fieldTexts.texts.peek().get(field)?.text) },
  );
  const change = (next: Values) => {
    setValues(next);
    if (keptAs === undefined) return;
    const changed = Object.entries(next).filter(([name, value]) => value !== before[name] && !(value instanceof File));
    fieldTexts.set(field, changed.length === 0 ? null : JSON.stringify(Object.fromEntries(changed)));
  };
  return { values, change, forget: () => change(before) };
}

interface ValuesProps {
  readonly settings: readonly Setting[];
  readonly values: Values;
  onChange(values: Values): void;
}

/** Controls with values that are sent together. */
export function Fields({ settings, values, onChange }: ValuesProps) {
  return settings.map((setting) => (
    <div key={setting.name} data-setting={setting.name}>
      <Field
        setting={setting}
        value={values[setting.name]}
        onChange={(value) => onChange({ ...values, [setting.name]: value })}
      />
    </div>
  ));
}

interface ValuesDialogProps {
  readonly title: string;
  readonly action: string;
  readonly settings: readonly Setting[] | ((values: Values) => readonly Setting[]);
  readonly values?: Values;
  /** Name under which unsent values are stored; absent for secrets. */
  readonly keptAs?: string;
  readonly isDangerous?: boolean;
  /** False while there is nothing to send. */
  isComplete?(values: Values): boolean;
  onSubmit(values: Values): Promise<unknown>;
  readonly children?: ReactNode;
}

/** Dialog for creating or changing an item. */
export function ValuesDialog(props: ValuesDialogProps) {
  const { settings, values: initial = {}, keptAs, isComplete, onSubmit, children, ...dialog } = props;
  const { values, change, forget } = useValues(initial, keptAs);
  const shown = typeof settings === 'function' ? settings(values) : settings;
  return (
    <FormDialog
      {...dialog}
      isDisabled={isComplete?.(values) === false}
      onSubmit={() => onSubmit(values).then(forget)}
      onCancel={forget}
    >
      {children}
      <Fields settings={shown} values={values} onChange={change} />
    </FormDialog>
  );
}

type EditDialogProps = Omit<ValuesDialogProps, 'action' | 'onSubmit'> & {
  /** Called with the changed values; texts are trimmed. */
  onSubmit(changes: Values): Promise<unknown>;
};

/** Dialog for changing an item. Unchanged values are not sent, because another window may have changed them. */
export function EditDialog({ values = {}, onSubmit, ...dialog }: EditDialogProps) {
  const { i18n } = useLingui();
  const [before] = useState(values);
  const submit = async (after: Values) => {
    const changed = Object.entries(after).filter(([name, value]) => value !== before[name]);
    if (changed.length === 0) return;
    await onSubmit(Object.fromEntries(changed.map(([name, value]) => [name, trimmed(value)])));
  };
  return <ValuesDialog {...dialog} action={i18n._('Save')} values={before} onSubmit={submit} />;
}

const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value);

interface Question {
  readonly title: string;
  readonly action: string;
  readonly text: string;
  onConfirm(): Promise<unknown>;
}

/** Asks for confirmation before an action that is hard to undo. */
export function askFirst(anchor: HTMLElement, { title, action, text, onConfirm }: Question): void {
  openOverlay(anchor, async () => (
    <FormDialog title={title} action={action} isDangerous onSubmit={onConfirm}>
      <p>{text}</p>
    </FormDialog>
  ));
}

/** Button that asks for confirmation. */
export const DangerousButton = ({ children, ...question }: Question & { readonly children: ReactNode }) => (
  <button
    type="button"
    className={styles.dangerous}
    aria-haspopup="dialog"
    onClick={({ currentTarget }) => askFirst(currentTarget, question)}
  >
    {children}
  </button>
);
