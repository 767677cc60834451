/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'Conferma il tuo indirizzo per {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'Ti stai registrando su {organization}. Conferma che questo indirizzo è tuo per continuare.',
  'The link expires after one day.': 'Il link scade dopo un giorno.',
  'Complete registration': 'Completa la registrazione',
  'If you did not request this, ignore this email.': 'Se non hai fatto questa richiesta, ignora questa email.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'Qualcuno è entrato in {organization} tramite un servizio che non ha verificato questo indirizzo. Conferma che è tuo e accedi di nuovo.',
  'Confirm this address': 'Conferma questo indirizzo',
  'Confirm your new address for {name}': 'Conferma il tuo nuovo indirizzo per {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'Stai cambiando l’indirizzo del tuo account su {organization} in {email}.',
  'Your account at {name}': 'Il tuo account su {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'Hai un account, {email}, su {organization}. Imposta una password per accedere.',
  'Set a password': 'Imposta una password',
  'Set a new password for {name}': 'Imposta una nuova password per {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'Qualcuno ha richiesto una nuova password per l’account {email} su {organization}.',
  'Set a new password': 'Imposta una nuova password',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'L’account è disattivato. L’amministrazione dell’organizzazione può riattivarlo.',
  'New log-in to {name}': 'Nuovo accesso a {name}',
  'Someone logged in to your account {email} at {organization}.':
    'Qualcuno è entrato nel tuo account {email} su {organization}.',
  'Time: {time}': 'Ora: {time}',
  'Program: {program}': 'Programma: {program}',
  'Network address: {ip}': 'Indirizzo di rete: {ip}',
  unknown: 'sconosciuto',
  'If this was not you, set a new password immediately and get a new API key.':
    'Se non eri tu, imposta subito una nuova password e ottieni una nuova chiave API.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'Ricevi questa email perché le notifiche dei nuovi accessi sono attive nelle tue impostazioni.',
  'Your address at {name} has changed': 'Il tuo indirizzo su {name} è cambiato',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'L’indirizzo del tuo account su {organization} ora è {email}. Usalo per accedere; anche le email arrivano lì.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'Se non l’hai cambiato tu, avvisa subito l’amministrazione dell’organizzazione.',
  'Welcome to {name}': 'Ti diamo il benvenuto in {name}',
  'You have joined {name}. Log in with:': 'Ti sei unito a {name}. Accedi con:',
  'Organization: {url}': 'Organizzazione: {url}',
  'Address: {email}': 'Indirizzo: {email}',
  'Password: the one you chose when you signed up': 'Password: quella scelta durante la registrazione',
  'Password: none; log in the same way as when you joined': 'Password: nessuna; accedi come quando ti sei unito',
  'How to connect': 'Come connettersi',
  'Your account at {name} has been deactivated': 'Il tuo account su {name} è stato disattivato',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person} ha disattivato il tuo account su {organization}. Non puoi più accedere.',
  'An administrator': 'L’amministrazione',
  'Comment by {person}:': 'Commento di {person}:',
  'Second factor of your account at {name}': 'Secondo fattore del tuo account su {name}',
  'A second factor was added to your account {email} at {organization}.':
    'Un secondo fattore è stato aggiunto al tuo account {email} su {organization}.',
  'A second factor was removed from your account {email} at {organization}.':
    'Un secondo fattore è stato rimosso dal tuo account {email} su {organization}.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'L’amministrazione ha rimosso tutti i secondi fattori del tuo account {email} su {organization}.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'Se non te lo aspettavi, imposta subito una nuova password e controlla i secondi fattori del tuo account.',
  'Second factors of your account': 'Secondi fattori del tuo account',
  '{person} has invited you to join {name}': '{person} ti ha invitato in {name}',
  'Reminder: {subject}': 'Promemoria: {subject}',
  'Hello,': 'Ciao,',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} ti invita in {name}, dove i team parlano in canali e argomenti.',
  'This is a reminder: the invitation expires soon.': 'Questo è un promemoria: l’invito scade presto.',
  'If you do not want to join, ignore this email.': 'Se non vuoi unirti, ignora questa email.',
  '{name} notifications': 'Notifiche di {name}',
  'Test notification': 'Notifica di prova',
  'This is a test notification from {organization}.': 'Questa è una notifica di prova di {organization}.',
  'New messages': 'Nuovi messaggi',
  'There are more messages in this conversation.': 'In questa conversazione ci sono altri messaggi.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'Questa email non contiene i messaggi perché hai disattivato il loro contenuto nelle notifiche via email.',
  'This email does not include message content because your organization hides message content in email.':
    'Questa email non contiene i messaggi perché la tua organizzazione nasconde il loro contenuto nelle email.',
  'DMs with {name}': 'Messaggi diretti con {name}',
  'Group DMs with {names}': 'Messaggi di gruppo con {names}',
  '{count} more': 'altri {count}',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'Ricevi questa email perché hai attivato le notifiche via email dei messaggi diretti.',
  'You are receiving this because you were personally mentioned.':
    'Ricevi questa email perché sei stato menzionato personalmente.',
  'You are receiving this because @{group} was mentioned.': 'Ricevi questa email perché @{group} è stato menzionato.',
  'You are receiving this because all topic participants were mentioned.':
    'Ricevi questa email perché tutti i partecipanti all’argomento sono stati menzionati.',
  'You are receiving this because everyone in the channel was mentioned.':
    'Ricevi questa email perché tutti nel canale sono stati menzionati.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'Ricevi questa email perché hai attivato le notifiche delle menzioni generali negli argomenti che segui.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'Ricevi questa email perché hai attivato le notifiche via email degli argomenti che segui.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'Ricevi questa email perché hai attivato le notifiche via email di {channel}.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'Ricevi questa email perché hai attivato le notifiche via email del canale.',
  'Do not reply to this email.': 'Non rispondere a questa email.',
  'Reply to this email directly, or in the chat.': 'Rispondi direttamente a questa email o nella chat.',
  'View or reply in {name}': 'Leggi o rispondi in {name}',
  'Manage email preferences': 'Preferenze email',
  Unsubscribe: 'Annulla l’iscrizione',
  'Weekly digest of {name}': 'Riepilogo settimanale di {name}',
  'Open {name}': 'Apri {name}',
  '{name} digest': 'Riepilogo di {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'Ricevi questa email perché da alcuni giorni non sei attivo e hai attivato i riepiloghi via email.',
  'Unread messages: {messages}, senders: {senders}': 'Messaggi non letti: {messages}, mittenti: {senders}',
  'New channels': 'Nuovi canali',
  'News of the last week in {name}:': 'Novità dell’ultima settimana in {name}:',
  'Busy conversations: {count}': 'Conversazioni vivaci: {count}',
  'New channels: {count}': 'Nuovi canali: {count}',
};
