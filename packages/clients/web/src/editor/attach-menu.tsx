import { useLingui } from '@lingui/react';
import { Camera, Paperclip } from '../icons/icons.js';
import { Menu, MenuItem } from '../kit/menu.js';

interface Props {
  /** Opens the browser's file dialog. */
  onChoose(): void;
  onPhoto(files: readonly File[]): void;
}

/** Sources of uploads on touch screens: the camera, or files. */
export function AttachMenu({ onChoose, onPhoto }: Props) {
  const { i18n } = useLingui();
  return (
    <Menu label={i18n._('Attach files')}>
      <MenuItem icon={Camera} onSelect={() => takePhoto(onPhoto)}>
        {i18n._('Take a photo')}
      </MenuItem>
      <MenuItem icon={Paperclip} onSelect={onChoose}>
        {i18n._('Choose files')}
      </MenuItem>
    </Menu>
  );
}

function takePhoto(onPhoto: Props['onPhoto']): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = 'image/*';
  // Not all browsers have the property.
  input.setAttribute('capture', 'environment');
  input.onchange = () => onPhoto([...(input.files ?? [])]);
  input.click();
}
