/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'Potwierdź swój adres dla {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'Rejestrujesz się w {organization}. Potwierdź, że to Twój adres, aby kontynuować.',
  'The link expires after one day.': 'Link wygasa po jednym dniu.',
  'Complete registration': 'Dokończ rejestrację',
  'If you did not request this, ignore this email.': 'Jeśli to nie Twoja prośba, zignoruj tę wiadomość.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'Ktoś zalogował się do {organization} przez usługę, która nie zweryfikowała tego adresu. Potwierdź, że należy do Ciebie, i zaloguj się ponownie.',
  'Confirm this address': 'Potwierdź ten adres',
  'Confirm your new address for {name}': 'Potwierdź swój nowy adres dla {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'Zmieniasz adres swojego konta w {organization} na {email}.',
  'Your account at {name}': 'Twoje konto w {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'Masz konto {email} w {organization}. Ustaw hasło, aby się zalogować.',
  'Set a password': 'Ustaw hasło',
  'Set a new password for {name}': 'Ustaw nowe hasło dla {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'Ktoś poprosił o nowe hasło do konta {email} w {organization}.',
  'Set a new password': 'Ustaw nowe hasło',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'Konto jest dezaktywowane. Administrator organizacji może je ponownie aktywować.',
  'New log-in to {name}': 'Nowe logowanie do {name}',
  'Someone logged in to your account {email} at {organization}.':
    'Ktoś zalogował się na Twoje konto {email} w {organization}.',
  'Time: {time}': 'Czas: {time}',
  'Program: {program}': 'Program: {program}',
  'Network address: {ip}': 'Adres sieciowy: {ip}',
  unknown: 'nieznany',
  'If this was not you, set a new password immediately and get a new API key.':
    'Jeśli to nie Ty, natychmiast ustaw nowe hasło i pobierz nowy klucz API.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'Otrzymujesz tę wiadomość, ponieważ w Twoich ustawieniach włączono powiadomienia o nowych logowaniach.',
  'Your address at {name} has changed': 'Twój adres w {name} został zmieniony',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'Adres Twojego konta w {organization} to teraz {email}. Używaj go do logowania; tam trafiają też e-maile.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'Jeśli to nie Twoja zmiana, natychmiast powiadom administratora organizacji.',
  'Welcome to {name}': 'Witamy w {name}',
  'You have joined {name}. Log in with:': 'Masz teraz konto w {name}. Dane do logowania:',
  'Organization: {url}': 'Organizacja: {url}',
  'Address: {email}': 'Adres: {email}',
  'Password: the one you chose when you signed up': 'Hasło: wybrane podczas rejestracji',
  'Password: none; log in the same way as when you joined': 'Hasło: brak; zaloguj się tak jak przy dołączaniu',
  'How to connect': 'Jak się połączyć',
  'Your account at {name} has been deactivated': 'Twoje konto w {name} zostało dezaktywowane',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person}: konto w {organization} zostało dezaktywowane przez tę osobę. Nie możesz się już zalogować.',
  'An administrator': 'Administrator',
  'Comment by {person}:': 'Komentarz ({person}):',
  'Second factor of your account at {name}': 'Drugi składnik Twojego konta w {name}',
  'A second factor was added to your account {email} at {organization}.':
    'Do Twojego konta {email} w {organization} dodano drugi składnik.',
  'A second factor was removed from your account {email} at {organization}.':
    'Z Twojego konta {email} w {organization} usunięto drugi składnik.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'Administrator usunął wszystkie drugie składniki z Twojego konta {email} w {organization}.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'Jeśli to niespodziewane, natychmiast ustaw nowe hasło i sprawdź drugie składniki swojego konta.',
  'Second factors of your account': 'Drugie składniki Twojego konta',
  '{person} has invited you to join {name}': '{person} zaprasza Cię do {name}',
  'Reminder: {subject}': 'Przypomnienie: {subject}',
  'Hello,': 'Dzień dobry,',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} zaprasza Cię do {name}, gdzie zespoły rozmawiają w kanałach i tematach.',
  'This is a reminder: the invitation expires soon.': 'To przypomnienie: zaproszenie wkrótce wygaśnie.',
  'If you do not want to join, ignore this email.': 'Jeśli nie chcesz dołączyć, zignoruj tę wiadomość.',
  '{name} notifications': 'Powiadomienia z {name}',
  'Test notification': 'Powiadomienie testowe',
  'This is a test notification from {organization}.': 'To powiadomienie testowe z {organization}.',
  'New messages': 'Nowe wiadomości',
  'There are more messages in this conversation.': 'W tej rozmowie jest więcej wiadomości.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'Ten e-mail nie zawiera treści wiadomości, ponieważ wyłączono ją w Twoich powiadomieniach e-mail.',
  'This email does not include message content because your organization hides message content in email.':
    'Ten e-mail nie zawiera treści wiadomości, ponieważ Twoja organizacja ukrywa ją w e-mailach.',
  'DMs with {name}': 'Wiadomości bezpośrednie: {name}',
  'Group DMs with {names}': 'Wiadomości grupowe: {names}',
  '{count} more': 'jeszcze {count}',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'Otrzymujesz tę wiadomość, ponieważ włączono powiadomienia e-mail o wiadomościach bezpośrednich.',
  'You are receiving this because you were personally mentioned.':
    'Otrzymujesz tę wiadomość, ponieważ wspomniano o Tobie.',
  'You are receiving this because @{group} was mentioned.': 'Otrzymujesz tę wiadomość, ponieważ wspomniano o @{group}.',
  'You are receiving this because all topic participants were mentioned.':
    'Otrzymujesz tę wiadomość, ponieważ wspomniano o wszystkich uczestnikach tematu.',
  'You are receiving this because everyone in the channel was mentioned.':
    'Otrzymujesz tę wiadomość, ponieważ wspomniano o wszystkich w kanale.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'Otrzymujesz tę wiadomość, ponieważ włączono powiadomienia o wzmiankach o wszystkich w obserwowanych tematach.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'Otrzymujesz tę wiadomość, ponieważ włączono powiadomienia e-mail o obserwowanych tematach.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'Otrzymujesz tę wiadomość, ponieważ włączono powiadomienia e-mail dla {channel}.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'Otrzymujesz tę wiadomość, ponieważ włączono powiadomienia e-mail dla kanału.',
  'Do not reply to this email.': 'Nie odpowiadaj na ten e-mail.',
  'Reply to this email directly, or in the chat.': 'Odpowiedz bezpośrednio na ten e-mail lub na czacie.',
  'View or reply in {name}': 'Zobacz lub odpowiedz w {name}',
  'Manage email preferences': 'Ustawienia e-maili',
  Unsubscribe: 'Wypisz się',
  'Weekly digest of {name}': 'Podsumowanie tygodnia w {name}',
  'Open {name}': 'Otwórz {name}',
  '{name} digest': 'Podsumowanie z {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'Otrzymujesz tę wiadomość, ponieważ od kilku dni nie masz aktywności i włączono podsumowania e-mail.',
  'Unread messages: {messages}, senders: {senders}': 'Nieprzeczytane wiadomości: {messages}, nadawcy: {senders}',
  'New channels': 'Nowe kanały',
  'News of the last week in {name}:': 'Nowości z ostatniego tygodnia w {name}:',
  'Busy conversations: {count}': 'Ożywione rozmowy: {count}',
  'New channels: {count}': 'Nowe kanały: {count}',
};
