import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { PermissionDefinition } from '@parley/chat';
import type { GroupSetting } from '@parley/client';
import { useId, useRef, useState } from 'react';
import { ColorPalette } from '../channels/color-dialog.js';
import { Plus, X } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import overlays from '../kit/overlays.module.css';
import styles from './managing.module.css';
import { MoveButtons } from './page-parts.js';
import { ChannelsField, GroupsField, PeopleField, PermissionField } from './pickers.js';

type Plain = string | number | boolean | null;

export interface Option {
  readonly value: Plain;
  /** Request name of the value, if different. */
  readonly wire?: string;
  readonly label: string;
}

/** Control type with value limits. */
type Kind =
  | { readonly kind: 'switch' | 'people' | 'channels' | 'groups' | 'color' | 'options' }
  | {
      readonly kind: 'text';
      readonly type?: 'email' | 'password' | 'url' | 'date';
      readonly maxLength?: number | undefined;
      readonly isOptional?: boolean;
      readonly autoComplete?: string;
    }
  | { readonly kind: 'lines'; readonly maxLength?: number | undefined }
  | { readonly kind: 'number'; readonly min?: number; readonly max?: number; readonly unit?: string }
  | { readonly kind: 'choice'; readonly options: readonly Option[] }
  /** A number of units, or `none` for no limit. */
  | {
      readonly kind: 'limit';
      readonly presets: readonly Option[];
      readonly unit: string;
      readonly unitSize: number;
      readonly none: Option & { readonly wire: string };
    }
  | { readonly kind: 'file'; readonly accept: string; readonly isOptional?: boolean }
  | { readonly kind: 'permission'; readonly definition: PermissionDefinition | undefined };

/** A setting: its API name, texts and control. */
export type Setting = { readonly name: string; readonly label: string; readonly hint?: string } & Kind;

/** Own password for operations that require it or a recent log-in. */
export const passwordUnlessRecent = (i18n: I18n): Setting => ({
  name: 'password',
  label: i18n._('Password'),
  kind: 'text',
  type: 'password',
  autoComplete: 'current-password',
  hint: i18n._('May be empty within ten minutes after a log-in.'),
});

/** True if a value is saved immediately instead of by a button. */
export const isAtOnce = ({ kind }: Setting): boolean =>
  !['text', 'lines', 'number', 'limit', 'file', 'color'].includes(kind);

interface Props {
  readonly setting: Setting;
  readonly value: unknown;
  onChange(value: unknown): void;
  readonly isDisabled?: boolean;
}

/** Control of a setting with its label and hint. */
export function Field({ setting, value, onChange, isDisabled = false }: Props) {
  const id = useId();
  const hintId = setting.hint === undefined ? undefined : `${id}-hint`;
  const hint = setting.hint !== undefined && (
    <p id={hintId} className={styles.hint}>
      {setting.hint}
    </p>
  );
  if (setting.kind === 'switch') {
    return (
      <>
        <label className={styles.switch}>
          <input
            type="checkbox"
            checked={value === true}
            disabled={isDisabled}
            aria-describedby={hintId}
            onChange={(event) => onChange(event.target.checked)}
          />
          {setting.label}
        </label>
        {hint}
      </>
    );
  }
  const isPicker = ['people', 'channels', 'groups', 'permission', 'color', 'options'].includes(setting.kind);
  return (
    <div className={overlays.field}>
      {isPicker ? <span>{setting.label}</span> : <label htmlFor={id}>{setting.label}</label>}
      <Control {...{ setting, value, onChange, isDisabled, id, hintId }} />
      {hint}
    </div>
  );
}

type ControlProps = Required<Props> & { readonly id: string; readonly hintId: string | undefined };

function Control({ setting, value, onChange, isDisabled, id, hintId }: ControlProps) {
  const shared = { id, disabled: isDisabled, 'aria-describedby': hintId };
  const picker = { label: setting.label, isDisabled, describedBy: hintId };
  switch (setting.kind) {
    case 'text':
      return (
        <input
          {...shared}
          type={setting.type ?? 'text'}
          required={!setting.isOptional}
          maxLength={setting.maxLength}
          autoComplete={setting.autoComplete ?? 'off'}
          value={textOf(value)}
          onChange={(event) => onChange(event.target.value)}
        />
      );
    case 'lines':
      return (
        <textarea
          {...shared}
          rows={3}
          maxLength={setting.maxLength}
          value={textOf(value)}
          onChange={(event) => onChange(event.target.value)}
        />
      );
    case 'number':
      return (
        <span className={styles.number}>
          <input
            {...shared}
            type="number"
            required
            min={setting.min}
            max={setting.max}
            value={textOf(value)}
            onChange={(event) => onChange(event.target.value === '' ? '' : event.target.valueAsNumber)}
          />
          {setting.unit}
        </span>
      );
    case 'choice':
      return <Choice {...shared} options={setting.options} value={value} onChange={onChange} />;
    case 'limit':
      return <Limit {...shared} setting={setting} value={value} onChange={onChange} />;
    case 'file':
      return (
        <input
          {...shared}
          type="file"
          required={!setting.isOptional}
          accept={setting.accept}
          onChange={(event) => onChange(event.target.files?.[0])}
        />
      );
    case 'permission':
      return (
        <PermissionField
          {...picker}
          definition={setting.definition}
          value={value as GroupSetting | undefined}
          onChange={onChange}
        />
      );
    case 'color':
      return <ColorPalette label={setting.label} color={textOf(value)} onChange={onChange} />;
    case 'people':
      return <PeopleField {...picker} value={idsOf(value)} onChange={onChange} />;
    case 'channels':
      return <ChannelsField {...picker} value={idsOf(value)} onChange={onChange} />;
    case 'groups':
      return <GroupsField {...picker} value={idsOf(value)} onChange={onChange} />;
    case 'options':
      return <OptionsField label={setting.label} value={(value ?? []) as ListOption[]} onChange={onChange} />;
    default:
      return null;
  }
}

/** Option of a selectable list; new options have no value yet. */
export interface ListOption {
  readonly key: string;
  readonly value?: string;
  readonly text: string;
}

interface OptionsProps {
  readonly label: string;
  readonly value: readonly ListOption[];
  onChange(value: readonly ListOption[]): void;
}

function OptionsField({ label, value, onChange }: OptionsProps) {
  const { i18n } = useLingui();
  const [before] = useState(value);
  const count = useRef(0);
  const addButton = useRef<HTMLButtonElement>(null);
  const options = value.length > 0 ? value : [{ key: 'first', text: '' }];
  const isOneRemoved = before.some(({ key }) => !options.some((option) => option.key === key));
  const move = (index: number, step: number) => {
    const ordered = [...options];
    ordered.splice(index + step, 0, ...ordered.splice(index, 1));
    onChange(ordered);
  };
  return (
    <>
      <ul className={styles.rows} aria-label={label}>
        {options.map((option, index) => {
          const place = i18n._('Option {number}', { number: index + 1 });
          const name = option.text.trim() || place;
          return (
            <li key={option.key} className={styles.option}>
              <input
                aria-label={place}
                required={option.value !== undefined}
                // biome-ignore lint/a11y/noAutofocus: the user has just asked for this field.
                autoFocus={option.key.startsWith('new ')}
                value={option.text}
                onChange={({ target }) =>
                  onChange(options.map((each) => (each === option ? { ...each, text: target.value } : each)))
                }
              />
              <MoveButtons name={name} index={index} count={options.length} onMove={(step) => move(index, step)} />
              <IconButton
                icon={X}
                label={i18n._('Remove {name}', { name })}
                isDisabled={options.length === 1}
                onClick={() => {
                  onChange(options.filter((each) => each !== option));
                  addButton.current?.focus();
                }}
              />
            </li>
          );
        })}
      </ul>
      <button
        ref={addButton}
        type="button"
        className={styles.add}
        onClick={() => onChange([...options, { key: `new ${count.current++}`, text: '' }])}
      >
        <Plus size={16} aria-hidden /> {i18n._('Add option')}
      </button>
      {isOneRemoved && (
        <output className={styles.notice}>{i18n._('The choices that people made there are deleted.')}</output>
      )}
    </>
  );
}

interface SharedProps {
  readonly id: string;
  readonly disabled: boolean;
  readonly 'aria-describedby': string | undefined;
  readonly value: unknown;
  onChange(value: unknown): void;
}

/** Value list; an unlisted value is shown as is. */
function Choice({ options, value, onChange, ...shared }: SharedProps & { readonly options: readonly Option[] }) {
  const index = options.findIndex((option) => value === option.value || value === (option.wire ?? option.value));
  return (
    <select
      {...shared}
      value={index}
      onChange={({ target }) => {
        const option = options[Number(target.value)]!;
        onChange(option.wire ?? option.value);
      }}
    >
      {index < 0 && <option value={-1}>{textOf(value)}</option>}
      {options.map((option, position) => (
        <option key={String(option.value)} value={position}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

/** Common limits, and a number for custom ones. */
function Limit({
  setting,
  value,
  onChange,
  ...shared
}: SharedProps & { readonly setting: Extract<Setting, { kind: 'limit' }> }) {
  const { i18n } = useLingui();
  const [isOwn, setOwn] = useState(false);
  const { presets, none, unit, unitSize } = setting;
  const isNone = value === none.value || value === none.wire;
  const isPreset = isNone || presets.some((preset) => preset.value === value);
  const showsNumber = isOwn || (!isPreset && value !== undefined);
  return (
    <span className={styles.limit}>
      <select
        {...shared}
        value={showsNumber ? 'own' : isNone ? 'none' : textOf(value)}
        onChange={({ target }) => {
          setOwn(target.value === 'own');
          if (target.value !== 'own') onChange(target.value === 'none' ? none.wire : Number(target.value));
        }}
      >
        <option value="none">{none.label}</option>
        {presets.map((preset) => (
          <option key={String(preset.value)} value={String(preset.value)}>
            {preset.label}
          </option>
        ))}
        <option value="own">{i18n._('Other')}</option>
      </select>
      {showsNumber && (
        <span className={styles.number}>
          <input
            type="number"
            required
            min={1}
            aria-label={`${setting.label} (${unit})`}
            disabled={shared.disabled}
            value={typeof value === 'number' ? Math.round(value / unitSize) : ''}
            onChange={({ target }) => onChange(target.value === '' ? '' : target.valueAsNumber * unitSize)}
          />
          {unit}
        </span>
      )}
    </span>
  );
}

/** Display text of a setting that is saved by a button. */
export function wordsOf(setting: Setting, value: unknown): string {
  if (setting.kind === 'number') return [value, setting.unit].join(' ').trim();
  if (setting.kind !== 'limit') return textOf(value);
  const { presets, none, unit, unitSize } = setting;
  const option = [none, ...presets].find((each) => each.value === value);
  return option?.label ?? `${Number(value) / unitSize} ${unit}`;
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const idsOf = (value: unknown): readonly number[] => (Array.isArray(value) ? value : []);
