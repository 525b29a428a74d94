# Calls the metadata of DBD::Pg and runs statements; tells what came back, a line for each call.
use strict;
use warnings;
use DBI;

my ($source, $user, $password, $number) = @ARGV;
my $db = DBI->connect($source, $user, $password, { RaiseError => 1, PrintError => 0, PrintWarn => 0 });
$db->do("SET client_min_messages TO warning");

sub rows {
    my $all = shift->fetchall_arrayref;
    return join " ; ", sort map { join ",", map { $_ // "" } @$_ } @$all;
}

sub told {
    my ($name, $call) = @_;
    my $found = eval { $call->() };
    my $error = $@ =~ s/\n/ /gr;
    print $name, "\t", defined $found ? $found =~ s/\n/ /gr : "ERR $error", "\n";
}

told("tables", sub { join ",", sort $db->tables(undef, "public", undef, "TABLE") });
told("table_info", sub { rows($db->table_info(undef, "public", "%", "TABLE")) });
told("schemas", sub { join ",", sort map { $_->[1] } @{ $db->table_info("", "%", "")->fetchall_arrayref } });
told("catalogs", sub { rows($db->table_info("%", "", "")) });
told("table types", sub { rows($db->table_info("", "", "", "%")) });
told("column_info", sub { rows($db->column_info(undef, "public", "%", "%")) });
told("primary_key_info", sub { rows($db->primary_key_info(undef, "public", "patients")) });
told("primary_key", sub { join ",", $db->primary_key(undef, "public", "patients") });
told("foreign_key_info", sub { rows($db->foreign_key_info(undef, "public", "patients", undef, "public", "labs")) });
told("references", sub { rows($db->foreign_key_info(undef, undef, undef, undef, "public", "diagnoses")) });
told("statistics_info", sub { rows($db->statistics_info(undef, "public", "patients", 0, 0)) });
told("type_info_all", sub { scalar @{ $db->type_info_all } });
told("get_info", sub { $db->get_info(17) });
told("ping", sub { $db->ping });
told("quote_identifier", sub { $db->quote_identifier(undef, "public", "patients") });

my $fresh = "followup_days >= -$number";
told("placeholder", sub { $db->selectrow_array("SELECT COUNT(*) > 0 FROM patients WHERE $fresh AND age > ?", undef, "50") });
told("numbered", sub { $db->selectrow_array("SELECT COUNT(*) > 0 FROM patients WHERE $fresh AND age > \$1", undef, 51) });
told("named", sub {
    my $statement = $db->prepare("SELECT COUNT(*) > 0 FROM patients WHERE $fresh AND age > :least");
    $statement->bind_param(":least", 52);
    $statement->execute;
    rows($statement);
});
told("list", sub { $db->selectrow_array("SELECT COUNT(*) > 0 FROM labs WHERE test = ANY(?)", undef, ["hdl", "sbp"]) });
told("described", sub {
    my $statement = $db->prepare("SELECT chapter, COUNT(*) AS n FROM conditions GROUP BY chapter");
    $statement->execute;
    join ",", @{ $statement->{NAME} }, @{ $statement->{pg_type} };
});
told("transaction", sub {
    $db->begin_work;
    $db->pg_savepoint("here");
    $db->pg_rollback_to("here");
    $db->pg_release("here");
    my ($one) = $db->selectrow_array("SELECT 1");
    $db->commit;
    $one;
});
told("quoted in the text", sub {
    $db->{pg_server_prepare} = 0;
    $db->selectrow_array("SELECT COUNT(*) > 0 FROM patients WHERE $fresh AND age > ? AND male = ?", undef, "53", "true");
});
told("error", sub { eval { $db->do("SELECT bmy FROM conditions") }; $db->state });
$db->disconnect;
