import { Dialog as Base } from '@base-ui/react/dialog';
import { useLingui } from '@lingui/react';
import { type ReactNode, useRef, useState } from 'react';
import { X } from '../icons/icons.js';
import { useReason } from '../services/failures.js';
import type { Refusal } from '../services/reasons.js';
import { fieldIn, useOverlay } from './overlay.js';
import styles from './overlays.module.css';

interface Props {
  readonly title: ReactNode;
  readonly children: ReactNode;
  /** True to stay open on a click outside. */
  readonly isKept?: boolean;
  /** True to keep the upper edge in place while the content changes its height. */
  readonly isAtTop?: boolean;
}

/** Modal dialog; closes with Escape, its button or a click outside. */
export function Dialog({ title, children, isKept = false, isAtTop }: Props) {
  const { container, close, finalFocus } = useOverlay();
  const { i18n } = useLingui();
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open disablePointerDismissal={isKept} onOpenChange={(isOpen) => isOpen || close()}>
      <Base.Portal container={container}>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup
          ref={popup}
          className={styles.dialog}
          data-top={isAtTop || undefined}
          part="dialog"
          initialFocus={() =>
            fieldIn(popup.current) ?? popup.current?.querySelector<HTMLElement>('[data-safe]') ?? true
          }
          finalFocus={finalFocus}
        >
          <header className={styles.dialogHeader}>
            <Base.Title className={styles.title}>{title}</Base.Title>
            <Base.Close className={styles.close} aria-label={i18n._('Close')}>
              <X size={18} aria-hidden />
            </Base.Close>
          </header>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** Error of a rejected action, shown next to it. */
export function FailureText({ failure }: { readonly failure: Refusal | null }) {
  const reason = useReason(failure);
  if (reason === '') return null;
  return (
    <p className={styles.failure} role="alert">
      {reason}
    </p>
  );
}

/** Result of a submit after which the dialog shows something. */
export const KEEP_OPEN = Symbol('keep open');

interface FormDialogProps extends Props {
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** The dialog closes when it resolves, except to `KEEP_OPEN`, and shows the error when it rejects. */
  onSubmit(): Promise<unknown>;
  onCancel?(): void;
}

/** Dialog with a form and one action button. A click outside does not discard the input. */
export function FormDialog(props: FormDialogProps) {
  const { title, children, isKept, action, isDangerous, isDisabled, onSubmit, onCancel } = props;
  const { close } = useOverlay();
  const { i18n } = useLingui();
  const [isWorking, setWorking] = useState(false);
  const [isTouched, setTouched] = useState(false);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const submit = async () => {
    setWorking(true);
    setFailure(null);
    try {
      if ((await onSubmit()) === KEEP_OPEN) setWorking(false);
      else close();
    } catch (error) {
      setFailure(error as Refusal);
      setWorking(false);
    }
  };
  return (
    <Dialog title={title} isKept={isKept || isTouched}>
      <form
        className={styles.form}
        onInput={() => setTouched(true)}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {children}
        <FailureText failure={failure} />
        <footer className={styles.buttons}>
          <Base.Close className={styles.button} data-safe onClick={onCancel}>
            {i18n._('Cancel')}
          </Base.Close>
          <button
            type="submit"
            className={isDangerous ? styles.dangerous : styles.primary}
            disabled={isDisabled || isWorking}
          >
            {action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
