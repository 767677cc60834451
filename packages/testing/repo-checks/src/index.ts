export { SETTINGS_WITHOUT_READER } from './realm-settings-document.js';
