import { useLingui } from '@lingui/react';
import { type ReactNode, useEffect, useState } from 'react';
import { Pencil, Plus, Trash2 } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import type { Setting } from './fields.js';
import { askFirst, EditDialog, SAVED_MS, useTurns, type Values, ValuesDialog } from './form.js';
import styles from './managing.module.css';
import { Line, MoveButtons } from './page-parts.js';

interface Props<T> {
  readonly label: string;
  readonly hint?: string;
  readonly none: string;
  readonly items: readonly T[];
  keyOf(item: T): string | number;
  nameOf(item: T): string;
  detailOf?(item: T): ReactNode;
  pictureOf?(item: T): ReactNode;
  readonly add?: {
    readonly label: string;
    /** Label of the button in the dialog; default: "Add". */
    readonly action?: string;
    readonly values?: Values;
    readonly settings: readonly Setting[] | ((values: Values) => readonly Setting[]);
    isComplete?(values: Values): boolean;
    onSubmit(values: Values): Promise<unknown>;
  };
  readonly edit?: {
    readonly title: string;
    valuesOf(item: T): Values;
    settingsOf(item: T): readonly Setting[];
    /** Called with the item as it was when the dialog opened. */
    onSubmit(item: T, changes: Values): Promise<unknown>;
  };
  readonly remove?: {
    readonly action: string;
    readonly text: string;
    mayRemove?(item: T): boolean;
    onConfirm(item: T): Promise<unknown>;
  };
  /** Reorders items. */
  onOrder?(items: readonly T[]): Promise<unknown>;
}

/** Organization items that can be added, changed and removed individually. */
export function Collection<T>(props: Props<T>) {
  const { label, hint, none, keyOf, nameOf, detailOf, pictureOf, add, onOrder } = props;
  const [items, order] = useOrder(props);
  const move = (index: number, step: number) => {
    const ordered = [...items];
    ordered.splice(index + step, 0, ...ordered.splice(index, 1));
    void order(ordered);
  };
  return (
    <>
      {hint !== undefined && <p className={styles.hint}>{hint}</p>}
      {add && <AddButton add={add} />}
      {items.length === 0 && <p className={styles.empty}>{none}</p>}
      <ul className={styles.rows} aria-label={label}>
        {items.map((item, index) => {
          const name = nameOf(item);
          return (
            <Line key={keyOf(item)} title={name} detail={detailOf?.(item)} picture={pictureOf?.(item)}>
              {onOrder && (
                <MoveButtons name={name} index={index} count={items.length} onMove={(step) => move(index, step)} />
              )}
              <ItemButtons item={item} collection={props} />
            </Line>
          );
        })}
      </ul>
    </>
  );
}

function AddButton<T>({ add }: { readonly add: NonNullable<Props<T>['add']> }) {
  const { i18n } = useLingui();
  return (
    <button
      type="button"
      className={styles.add}
      aria-haspopup="dialog"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => (
          <ValuesDialog
            title={add.label}
            keptAs={add.label}
            action={add.action ?? i18n._('Add')}
            settings={add.settings}
            values={add.values ?? {}}
            {...(add.isComplete && { isComplete: add.isComplete })}
            onSubmit={add.onSubmit}
          />
        ))
      }
    >
      <Plus size={16} aria-hidden /> {add.label}
    </button>
  );
}

interface ItemButtonsProps<T> {
  readonly item: T;
  readonly collection: Props<T>;
}

function ItemButtons<T>({ item, collection: { keyOf, nameOf, edit, remove } }: ItemButtonsProps<T>) {
  const { i18n } = useLingui();
  const name = nameOf(item);
  return (
    <>
      {edit && (
        <IconButton
          icon={Pencil}
          label={i18n._('Edit {name}', { name })}
          opens="dialog"
          onClick={({ currentTarget }) =>
            openOverlay(currentTarget, async () => (
              <EditDialog
                title={edit.title}
                keptAs={`${edit.title} ${keyOf(item)}`}
                settings={edit.settingsOf(item)}
                values={edit.valuesOf(item)}
                onSubmit={(changes) => edit.onSubmit(item, changes)}
              />
            ))
          }
        />
      )}
      {remove && (remove.mayRemove?.(item) ?? true) && (
        <IconButton
          icon={Trash2}
          label={`${remove.action}: ${name}`}
          opens="dialog"
          onClick={({ currentTarget }) =>
            askFirst(currentTarget, {
              title: `${remove.action}: ${name}`,
              action: remove.action,
              text: remove.text,
              onConfirm: () => remove.onConfirm(item),
            })
          }
        />
      )}
    </>
  );
}

/** Items in the user's order, even before its event arrives, and a function that reorders them. */
function useOrder<T>({ items, keyOf, onOrder }: Props<T>) {
  const [order, setOrder] = useState<{ readonly keys: readonly unknown[]; readonly isSent: boolean } | null>(null);
  const sendInTurn = useTurns();
  const present = items.map(keyOf).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the event with an order ends the own one.
  useEffect(() => setOrder((current) => (current?.isSent ? null : current)), [present]);
  useEffect(() => {
    if (!order?.isSent) return;
    const timer = setTimeout(() => setOrder(null), SAVED_MS);
    return () => clearTimeout(timer);
  }, [order]);
  const change = async (ordered: readonly T[]) => {
    const keys = ordered.map(keyOf);
    setOrder({ keys, isSent: false });
    const outcome = await sendInTurn(() => onOrder!(ordered));
    if (!outcome) return;
    setOrder(outcome.failure ? null : { keys, isSent: true });
    if (outcome.failure) reportFailure(outcome.failure);
  };
  if (!order) return [items, change] as const;
  const places = new Map(order.keys.map((key, index) => [key, index]));
  const placeOf = (item: T) => places.get(keyOf(item)) ?? places.size;
  return [items.toSorted((a, b) => placeOf(a) - placeOf(b)), change] as const;
}
