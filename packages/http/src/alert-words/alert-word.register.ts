import { loadAlertWords } from '@parley/domain/alert-words';
import { type RegisterSection, registerSection } from '../events/register-section.js';

export const alertWordsSection: RegisterSection = registerSection({
  name: 'alert_words',
  forSpectators: { alert_words: [] },
  load: (snapshot) => snapshot.load(loadAlertWords),
  present: (words) => ({ alert_words: words }),
});
