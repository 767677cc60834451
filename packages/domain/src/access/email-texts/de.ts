/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'Bestätigen Sie Ihre Adresse für {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'Sie registrieren sich bei {organization}. Bestätigen Sie, dass das Ihre Adresse ist, um fortzufahren.',
  'The link expires after one day.': 'Der Link ist einen Tag lang gültig.',
  'Complete registration': 'Registrierung abschließen',
  'If you did not request this, ignore this email.':
    'Falls Sie das nicht angefordert haben, ignorieren Sie diese E-Mail.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'Jemand hat sich bei {organization} über einen Dienst angemeldet, der diese Adresse nicht geprüft hat. Bestätigen Sie, dass sie Ihnen gehört, und melden Sie sich noch einmal an.',
  'Confirm this address': 'Diese Adresse bestätigen',
  'Confirm your new address for {name}': 'Bestätigen Sie Ihre neue Adresse für {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'Sie ändern die Adresse Ihres Kontos bei {organization} in {email}.',
  'Your account at {name}': 'Ihr Konto bei {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'Sie haben ein Konto, {email}, bei {organization}. Legen Sie ein Passwort fest, um sich anzumelden.',
  'Set a password': 'Passwort festlegen',
  'Set a new password for {name}': 'Legen Sie ein neues Passwort für {name} fest',
  'Someone requested a new password for the account {email} at {organization}.':
    'Jemand hat ein neues Passwort für das Konto {email} bei {organization} angefordert.',
  'Set a new password': 'Neues Passwort festlegen',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'Das Konto ist deaktiviert. Die Administration der Organisation kann es wieder aktivieren.',
  'New log-in to {name}': 'Neue Anmeldung bei {name}',
  'Someone logged in to your account {email} at {organization}.':
    'Jemand hat sich mit Ihrem Konto {email} bei {organization} angemeldet.',
  'Time: {time}': 'Zeit: {time}',
  'Program: {program}': 'Programm: {program}',
  'Network address: {ip}': 'Netzwerkadresse: {ip}',
  unknown: 'unbekannt',
  'If this was not you, set a new password immediately and get a new API key.':
    'Falls Sie das nicht waren, legen Sie sofort ein neues Passwort fest und holen Sie einen neuen API-Schlüssel.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'Sie erhalten diese E-Mail, weil Benachrichtigungen über neue Anmeldungen in Ihren Einstellungen eingeschaltet sind.',
  'Your address at {name} has changed': 'Ihre Adresse bei {name} wurde geändert',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'Die Adresse Ihres Kontos bei {organization} ist jetzt {email}. Melden Sie sich mit ihr an; auch E-Mails gehen dorthin.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'Falls Sie sie nicht geändert haben, informieren Sie sofort die Administration der Organisation.',
  'Welcome to {name}': 'Willkommen bei {name}',
  'You have joined {name}. Log in with:': 'Sie sind {name} beigetreten. Melden Sie sich so an:',
  'Organization: {url}': 'Organisation: {url}',
  'Address: {email}': 'Adresse: {email}',
  'Password: the one you chose when you signed up': 'Passwort: das bei der Registrierung gewählte',
  'Password: none; log in the same way as when you joined': 'Passwort: keines; melden Sie sich so an wie beim Beitritt',
  'How to connect': 'So verbinden Sie sich',
  'Your account at {name} has been deactivated': 'Ihr Konto bei {name} wurde deaktiviert',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person} hat Ihr Konto bei {organization} deaktiviert. Sie können sich nicht mehr anmelden.',
  'An administrator': 'Die Administration',
  'Comment by {person}:': 'Kommentar von {person}:',
  'Second factor of your account at {name}': 'Zweiter Faktor Ihres Kontos bei {name}',
  'A second factor was added to your account {email} at {organization}.':
    'Ihrem Konto {email} bei {organization} wurde ein zweiter Faktor hinzugefügt.',
  'A second factor was removed from your account {email} at {organization}.':
    'Von Ihrem Konto {email} bei {organization} wurde ein zweiter Faktor entfernt.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'Die Administration hat alle zweiten Faktoren Ihres Kontos {email} bei {organization} entfernt.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'Falls Sie das nicht erwartet haben, legen Sie sofort ein neues Passwort fest und prüfen Sie die zweiten Faktoren Ihres Kontos.',
  'Second factors of your account': 'Zweite Faktoren Ihres Kontos',
  '{person} has invited you to join {name}': '{person} hat Sie zu {name} eingeladen',
  'Reminder: {subject}': 'Erinnerung: {subject}',
  'Hello,': 'Hallo,',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} lädt Sie zu {name} ein. Dort sprechen Teams in Kanälen und Themen miteinander.',
  'This is a reminder: the invitation expires soon.': 'Das ist eine Erinnerung: Die Einladung läuft bald ab.',
  'If you do not want to join, ignore this email.': 'Falls Sie nicht beitreten möchten, ignorieren Sie diese E-Mail.',
  '{name} notifications': 'Benachrichtigungen von {name}',
  'Test notification': 'Testbenachrichtigung',
  'This is a test notification from {organization}.': 'Das ist eine Testbenachrichtigung von {organization}.',
  'New messages': 'Neue Nachrichten',
  'There are more messages in this conversation.': 'In dieser Unterhaltung gibt es weitere Nachrichten.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'Diese E-Mail enthält keine Nachrichteninhalte, weil Sie sie in E-Mail-Benachrichtigungen ausgeschaltet haben.',
  'This email does not include message content because your organization hides message content in email.':
    'Diese E-Mail enthält keine Nachrichteninhalte, weil Ihre Organisation sie in E-Mails verbirgt.',
  'DMs with {name}': 'Direktnachrichten mit {name}',
  'Group DMs with {names}': 'Gruppennachrichten mit {names}',
  '{count} more': '{count} weiteren',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'Sie erhalten diese E-Mail, weil E-Mail-Benachrichtigungen für Direktnachrichten eingeschaltet sind.',
  'You are receiving this because you were personally mentioned.':
    'Sie erhalten diese E-Mail, weil Sie persönlich erwähnt wurden.',
  'You are receiving this because @{group} was mentioned.': 'Sie erhalten diese E-Mail, weil @{group} erwähnt wurde.',
  'You are receiving this because all topic participants were mentioned.':
    'Sie erhalten diese E-Mail, weil alle Beteiligten des Themas erwähnt wurden.',
  'You are receiving this because everyone in the channel was mentioned.':
    'Sie erhalten diese E-Mail, weil alle im Kanal erwähnt wurden.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'Sie erhalten diese E-Mail, weil Benachrichtigungen über Erwähnungen aller in gefolgten Themen eingeschaltet sind.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'Sie erhalten diese E-Mail, weil E-Mail-Benachrichtigungen für gefolgte Themen eingeschaltet sind.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'Sie erhalten diese E-Mail, weil E-Mail-Benachrichtigungen für {channel} eingeschaltet sind.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'Sie erhalten diese E-Mail, weil E-Mail-Benachrichtigungen für den Kanal eingeschaltet sind.',
  'Do not reply to this email.': 'Antworten Sie nicht auf diese E-Mail.',
  'Reply to this email directly, or in the chat.': 'Antworten Sie direkt auf diese E-Mail oder im Chat.',
  'View or reply in {name}': 'In {name} ansehen oder antworten',
  'Manage email preferences': 'E-Mail-Einstellungen',
  Unsubscribe: 'Abbestellen',
  'Weekly digest of {name}': 'Wöchentliche Übersicht von {name}',
  'Open {name}': '{name} öffnen',
  '{name} digest': 'Übersicht von {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'Sie erhalten diese E-Mail, weil Sie einige Tage nicht aktiv waren und E-Mail-Übersichten eingeschaltet sind.',
  'Unread messages: {messages}, senders: {senders}': 'Ungelesene Nachrichten: {messages}, Absender: {senders}',
  'New channels': 'Neue Kanäle',
  'News of the last week in {name}:': 'Neues der letzten Woche in {name}:',
  'Busy conversations: {count}': 'Lebhafte Unterhaltungen: {count}',
  'New channels: {count}': 'Neue Kanäle: {count}',
};
