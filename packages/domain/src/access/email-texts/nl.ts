/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'Bevestig je adres voor {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'Je meldt je aan bij {organization}. Bevestig dat dit jouw adres is om verder te gaan.',
  'The link expires after one day.': 'De link verloopt na één dag.',
  'Complete registration': 'Registratie voltooien',
  'If you did not request this, ignore this email.': 'Heb je dit niet aangevraagd, negeer dan deze e-mail.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'Iemand heeft ingelogd bij {organization} via een dienst die dit adres niet heeft gecontroleerd. Bevestig dat het van jou is en log opnieuw in.',
  'Confirm this address': 'Dit adres bevestigen',
  'Confirm your new address for {name}': 'Bevestig je nieuwe adres voor {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'Je wijzigt het adres van je account bij {organization} in {email}.',
  'Your account at {name}': 'Je account bij {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'Je hebt een account, {email}, bij {organization}. Stel een wachtwoord in om in te loggen.',
  'Set a password': 'Een wachtwoord instellen',
  'Set a new password for {name}': 'Stel een nieuw wachtwoord in voor {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'Iemand heeft een nieuw wachtwoord aangevraagd voor het account {email} bij {organization}.',
  'Set a new password': 'Een nieuw wachtwoord instellen',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'Het account is gedeactiveerd. Een beheerder van de organisatie kan het weer activeren.',
  'New log-in to {name}': 'Nieuwe aanmelding bij {name}',
  'Someone logged in to your account {email} at {organization}.':
    'Iemand heeft ingelogd op je account {email} bij {organization}.',
  'Time: {time}': 'Tijd: {time}',
  'Program: {program}': 'Programma: {program}',
  'Network address: {ip}': 'Netwerkadres: {ip}',
  unknown: 'onbekend',
  'If this was not you, set a new password immediately and get a new API key.':
    'Was jij dit niet, stel dan meteen een nieuw wachtwoord in en haal een nieuwe API-sleutel op.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'Je ontvangt dit omdat meldingen over nieuwe aanmeldingen in je instellingen aanstaan.',
  'Your address at {name} has changed': 'Je adres bij {name} is gewijzigd',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'Het adres van je account bij {organization} is nu {email}. Log ermee in; e-mails gaan er ook naartoe.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'Heb je het niet zelf gewijzigd, waarschuw dan meteen een beheerder van de organisatie.',
  'Welcome to {name}': 'Welkom bij {name}',
  'You have joined {name}. Log in with:': 'Je bent lid geworden van {name}. Log in met:',
  'Organization: {url}': 'Organisatie: {url}',
  'Address: {email}': 'Adres: {email}',
  'Password: the one you chose when you signed up': 'Wachtwoord: het wachtwoord dat je bij de aanmelding koos',
  'Password: none; log in the same way as when you joined': 'Wachtwoord: geen; log in zoals toen je lid werd',
  'How to connect': 'Verbinding maken',
  'Your account at {name} has been deactivated': 'Je account bij {name} is gedeactiveerd',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person} heeft je account bij {organization} gedeactiveerd. Je kunt niet meer inloggen.',
  'An administrator': 'Een beheerder',
  'Comment by {person}:': 'Opmerking van {person}:',
  'Second factor of your account at {name}': 'Tweede factor van je account bij {name}',
  'A second factor was added to your account {email} at {organization}.':
    'Er is een tweede factor toegevoegd aan je account {email} bij {organization}.',
  'A second factor was removed from your account {email} at {organization}.':
    'Er is een tweede factor verwijderd van je account {email} bij {organization}.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'Een beheerder heeft alle tweede factoren van je account {email} bij {organization} verwijderd.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'Had je dit niet verwacht, stel dan meteen een nieuw wachtwoord in en controleer de tweede factoren van je account.',
  'Second factors of your account': 'Tweede factoren van je account',
  '{person} has invited you to join {name}': '{person} heeft je uitgenodigd voor {name}',
  'Reminder: {subject}': 'Herinnering: {subject}',
  'Hello,': 'Hallo,',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} nodigt je uit voor {name}, waar teams praten in kanalen en onderwerpen.',
  'This is a reminder: the invitation expires soon.': 'Dit is een herinnering: de uitnodiging verloopt binnenkort.',
  'If you do not want to join, ignore this email.': 'Wil je niet meedoen, negeer dan deze e-mail.',
  '{name} notifications': 'Meldingen van {name}',
  'Test notification': 'Testmelding',
  'This is a test notification from {organization}.': 'Dit is een testmelding van {organization}.',
  'New messages': 'Nieuwe berichten',
  'There are more messages in this conversation.': 'Er zijn meer berichten in dit gesprek.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'Deze e-mail bevat geen berichtinhoud omdat je die in e-mailmeldingen hebt uitgezet.',
  'This email does not include message content because your organization hides message content in email.':
    'Deze e-mail bevat geen berichtinhoud omdat je organisatie die in e-mails verbergt.',
  'DMs with {name}': 'Directe berichten met {name}',
  'Group DMs with {names}': 'Groepsberichten met {names}',
  '{count} more': 'nog {count}',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'Je ontvangt dit omdat e-mailmeldingen voor directe berichten aanstaan.',
  'You are receiving this because you were personally mentioned.': 'Je ontvangt dit omdat je persoonlijk bent vermeld.',
  'You are receiving this because @{group} was mentioned.': 'Je ontvangt dit omdat @{group} is vermeld.',
  'You are receiving this because all topic participants were mentioned.':
    'Je ontvangt dit omdat alle deelnemers aan het onderwerp zijn vermeld.',
  'You are receiving this because everyone in the channel was mentioned.':
    'Je ontvangt dit omdat iedereen in het kanaal is vermeld.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'Je ontvangt dit omdat meldingen over algemene vermeldingen aanstaan voor onderwerpen die je volgt.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'Je ontvangt dit omdat e-mailmeldingen aanstaan voor onderwerpen die je volgt.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'Je ontvangt dit omdat e-mailmeldingen aanstaan voor {channel}.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'Je ontvangt dit omdat e-mailmeldingen aanstaan voor het kanaal.',
  'Do not reply to this email.': 'Beantwoord deze e-mail niet.',
  'Reply to this email directly, or in the chat.': 'Beantwoord deze e-mail direct, of antwoord in de chat.',
  'View or reply in {name}': 'Bekijken of antwoorden in {name}',
  'Manage email preferences': 'E-mailvoorkeuren',
  Unsubscribe: 'Afmelden',
  'Weekly digest of {name}': 'Wekelijks overzicht van {name}',
  'Open {name}': '{name} openen',
  '{name} digest': 'Overzicht van {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'Je ontvangt dit omdat je enkele dagen niet actief was en e-mailoverzichten aanstaan.',
  'Unread messages: {messages}, senders: {senders}': 'Ongelezen berichten: {messages}, afzenders: {senders}',
  'New channels': 'Nieuwe kanalen',
  'News of the last week in {name}:': 'Nieuws van de afgelopen week in {name}:',
  'Busy conversations: {count}': 'Drukke gesprekken: {count}',
  'New channels: {count}': 'Nieuwe kanalen: {count}',
};
