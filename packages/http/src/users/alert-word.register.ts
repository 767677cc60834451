import { loadAlertWords } from '@parley/domain/users';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import * as wire from '../kernel/wire-schema.js';

export const alertWordsSection: RegisterSection = registerSection({
  name: 'alert_words',
  fields: { alert_words: wire.listOf(wire.text()) },
  forSpectators: { alert_words: [] },
  load: (snapshot) => snapshot.load(loadAlertWords),
  present: (words) => ({ alert_words: words }),
});
